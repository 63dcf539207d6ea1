// Masks by buffers in no order, whose elements the kernel looks at to know what
// a block is; and padding, whose values may be NaN.
#include "test/contract/RowCases.h"

#include <cmath>
#include <random>

using namespace qm;
using namespace qm::contract;

using Elements = std::vector<int64_t>;

/// Runs of `run` tokens, each of one of `classes` classes in no order.
static Elements classesOf(int64_t tokens, int64_t run, int64_t classes,
                          unsigned seed) {
  std::mt19937 random(seed);
  Elements result;
  while (int64_t(result.size()) < tokens)
    result.insert(result.end(), run, int64_t(random() % classes));
  result.resize(tokens);
  return result;
}

/// Documents that do not lie in the order of their ids. Long ones leave whole
/// blocks empty or full.
static RowCase shuffledDocuments(const std::string &name, Element element,
                                 bool isCausal) {
  RowCase result{name, 2, 1, [=](Spec &spec) {
                   Mask mask = full();
                   if (element == Element::I64)
                     mask = document(spec.buffer("ids", i64, spec.batch(),
                                                 spec.queryLength()));
                   else
                     mask = document(spec.buffer("ids", i32, spec.batch(),
                                                 spec.queryLength()));
                   spec.mask(isCausal ? mask && causal(TopLeft) : mask);
                 }};
  for (auto [tokens, run] : {std::pair<int64_t, int64_t>(700, 260),
                             {513, 128},
                             {300, 17},
                             {40, 1}}) {
    // Two batch entries; high words of 64 bits that do not count.
    Elements ids[] = {classesOf(tokens, run, 5, tokens),
                      classesOf(tokens, run + 30, 3, run)};
    Tensor buffer(element, {2, tokens});
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t t = 0; t < tokens; ++t)
        storeInteger(buffer.view, b * tokens + t, ids[b][t] - 2);
    result.calls.push_back(probe(
        tokens, tokens,
        [=, a = ids[0], c = ids[1]](int64_t b, int64_t, int64_t i, int64_t j) {
          const Elements &of = b ? c : a;
          return of[i] == of[j] && (!isCausal || i >= j);
        },
        2, {buffer}));
    result.calls.back().name += "_run" + std::to_string(run);
  }
  return result;
}

/// A first and a last key for each row, the two in one buffer, and a level for
/// each key that a row's must reach.
static RowCase thresholds() {
  RowCase result{"Row30_ThresholdsInNoOrder", 2, 1, [](Spec &spec) {
                   auto spans =
                       spec.buffer("spans", i32, spec.queryLength(), 2);
                   auto levels = spec.buffer("levels", i16, spec.keyLength());
                   auto reach = spec.buffer("reach", i8, spec.queryLength());
                   spec.mask([=](Batch, Head, Query i, Key j) {
                     return spans(i, Index(0)) <= j &&
                            j <= spans(i, Index(1)) && levels[j] <= reach[i];
                   });
                 }};
  for (auto [queries, keys] :
       {std::pair<int64_t, int64_t>(300, 900), {65, 200}, {1, 700}}) {
    std::mt19937 random(queries);
    Elements levels = classesOf(keys, 150, 9, 3),
             reach = classesOf(queries, 90, 9, 4);
    Tensor spans(Element::I32, {queries, 2});
    Elements begins, ends;
    for (int64_t i = 0; i < queries; ++i) {
      begins.push_back(int64_t(random() % 200) - 20 + i / 64 * 100);
      ends.push_back(begins[i] + int64_t(random() % 300));
      storeInteger(spans.view, 2 * i, begins[i]);
      storeInteger(spans.view, 2 * i + 1, ends[i]);
    }
    result.calls.push_back(probe(
        queries, keys,
        [=](int64_t, int64_t, int64_t i, int64_t j) {
          return begins[i] <= j && j <= ends[i] && levels[j] <= reach[i];
        },
        1,
        {spans, vectorOf(Element::I16, levels), vectorOf(Element::I8, reach)}));
  }
  return result;
}

/// Documents with padding between them, of which Q, K and V hold NaN. The mask
/// says which tokens are none.
static RowCase padsBetweenDocuments() {
  RowCase result{"Row28_PadsBetweenDocumentsHoldNaN", 2, 1, [](Spec &spec) {
                   auto ids = spec.buffer("ids", i32, spec.queryLength());
                   spec.mask(document(ids) &&
                             custom([=](Batch, Head, Query, Key j) {
                               return ids[Query(j)] >= 0;
                             }));
                 }};
  for (const Elements &lengths :
       {Elements{9, 8, 12, 8, 12}, {1, 1, 300}, {200, 64, 64, 1, 130}}) {
    Elements ids;
    for (auto [id, length] : llvm::enumerate(lengths)) {
      ids.insert(ids.end(), length, id);
      ids.insert(ids.end(), 3 + 13 * id, -1);
    }
    int64_t tokens = ids.size();
    RowCall call = probe(tokens, tokens,
                         [=](int64_t, int64_t, int64_t i, int64_t j) {
                           return ids[i] >= 0 && ids[i] == ids[j];
                         },
                         1, {vectorOf(Element::I32, ids)});
    call.make = [make = call.make, ids](Element type, Shape shape) {
      Call made = make(type, shape);
      for (Tensor *tensor : {&made.q, &made.k, &made.v})
        for (auto [token, id] : llvm::enumerate(ids))
          if (id < 0)
            tensor->slice(2, token, 1).fill(std::nan(""));
      return made;
    };
    result.calls.push_back(call);
  }
  return result;
}

/// Keys in no order that no query may see, a flag for each: holes in a cache.
static RowCase holesInACache() {
  RowCase result{"Row08_HolesInACacheHoldNaN", 4, 2, [](Spec &spec) {
                   auto valid =
                       spec.buffer("valid", i1, spec.batch(), spec.keyLength());
                   spec.mask(padding(valid) && causal(BottomRight));
                 }};
  for (auto [queries, keys] :
       {std::pair<int64_t, int64_t>(9, 300), {130, 200}, {1, 64}}) {
    auto isValid = [](int64_t b, int64_t j) {
      return b ? j % 5 != 2 : j / 70 % 2 == 0;
    };
    Tensor valid(Element::I8, {2, keys});
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t j = 0; j < keys; ++j)
        storeInteger(valid.view, b * keys + j, isValid(b, j));
    RowCall call = probe(queries, keys,
                         [=](int64_t b, int64_t, int64_t i, int64_t j) {
                           return isValid(b, j) && j <= i + keys - queries;
                         },
                         2, {valid});
    call.make = [make = call.make, isValid, keys](Element type, Shape shape) {
      Call made = make(type, shape);
      for (Tensor *tensor : {&made.k, &made.v})
        for (int64_t b = 0; b < 2; ++b)
          for (int64_t j = 0; j < keys; ++j)
            if (!isValid(b, j))
              tensor->slice(0, b, 1).slice(2, j, 1).fill(std::nan(""));
      return made;
    };
    result.calls.push_back(call);
  }
  return result;
}

std::vector<RowCase> qm::contract::bufferCases() {
  return {
      shuffledDocuments("Row30_ShuffledDocuments", Element::I32, false),
      shuffledDocuments("Row30_ShuffledDocumentsCausal", Element::I64, true),
      thresholds(), padsBetweenDocuments(), holesInACache()};
}
