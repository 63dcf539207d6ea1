"""Ready libraries: what they say of themselves, arrays of any library, and errors that name their code."""

import ctypes
import os
import pathlib
import tempfile
import threading
import unittest

import numpy as np
import qimeng_attention as qa
from common import run_python
from dlpack_producer import Array
from qimeng_attention import masks

FOLDER = tempfile.TemporaryDirectory()


def arrays(dtype=np.float32, rows=6, keys=9):
    random = np.random.default_rng(7)
    shapes = (1, 4, rows, 16), (1, 2, keys, 16), (1, 2, keys, 16)
    return [random.standard_normal(shape).astype(dtype) for shape in shapes]


def make_library(archs=("cpu",), name="attn", **options):
    slopes, window = qa.buffer("f32", ["heads", 1], "slopes"), qa.scalar("i32", "window")
    spec = qa.Spec(
        name="windowed", heads=4, kv_heads=2, head_dim=16, return_lse=True, mask=masks.sliding_window(window),
        score_mod=lambda s, b, h, i, j: s * slopes[h, 0], arguments=[slopes, window], **{"dtype": "f32", **options},
    )  # fmt: skip
    plain = qa.Spec(heads=4, kv_heads=2, head_dim=16, dtype="f32")
    return qa.build([spec, plain] if not options else [spec], pathlib.Path(FOLDER.name) / name, archs)


class Libraries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = make_library()
        cls.library = qa.load(cls.path)
        cls.operator = cls.library["windowed"]
        (cls.kernel,) = cls.operator.kernels
        cls.slopes = np.array([[1.0], [0.5], [2.0], [0.0]], np.float32)

    def call(self, *operands, **options):
        return self.kernel(*operands, **{"slopes": self.slopes, "window": 3, **options})

    def refuses(self, code, *operands, **options):
        o = np.full((1, 4, 6, 16), 7, np.float32)
        with self.assertRaises(qa.LaunchError) as caught:
            self.call(*operands, **{"out": o, **options})
        self.assertEqual(caught.exception.code, code, str(caught.exception))
        self.assertIn("help: ", str(caught.exception))
        self.assertTrue((o == 7).all(), "nothing is written")

    def test_describes_itself(self):
        self.assertEqual(len(self.library), 2)
        self.assertIn("windowed", self.library)
        self.assertEqual(
            [(a.name, a.role, a.dtype, a.shape) for a in self.kernel.arguments],
            [
                ("q", "q", "f32", (-1, 4, -1, 16)), ("k", "k", "f32", (-1, 2, -1, 16)), ("v", "v", "f32", (-1, 2, -1, 16)),
                ("slopes", "buffer", "f32", (4, 1)), ("window", "scalar", "i32", ()),
                ("o", "o", "f32", (-1, 4, -1, 16)), ("lse", "lse", "f32", (-1, 4, -1)),
            ],
        )  # fmt: skip
        kernel = self.kernel
        self.assertIs(self.library[kernel.name], kernel)
        self.assertEqual(kernel.select("cpu").format, "cpu")
        self.assertGreater(kernel.select("cpu").tile_m, 0)
        for loaded in (self.operator, kernel):
            loaded.prepare("cpu")
        q, k, v = arrays()
        for a, b in zip(self.call(q, k, v), self.operator(q, k, v, slopes=self.slopes, window=3)):
            np.testing.assert_array_equal(a, b)
        with self.assertRaisesRegex(qa.LaunchError, "QM0507.*has no operator 'other'\nhelp: it has .*windowed"):
            self.library["other"]

    def test_results(self):
        q, k, v = arrays()
        o, lse = self.call(q, k, v)
        given = np.empty_like(o), np.empty_like(lse)
        self.assertIs(self.call(q, k, v, out=given[0], lse=given[1])[0], given[0])
        np.testing.assert_array_equal(given[0], o)
        np.testing.assert_array_equal(given[1], lse)

    def test_arrays_of_any_library(self):
        q, k, v = arrays()
        expected, lse = self.call(q, k, v)
        for options in ({}, {"versioned": False}, {"offset": 64}):
            with self.subTest(options):
                out, log = np.empty_like(expected), np.empty_like(lse)
                given = [Array(x, **options) for x in (q, k, v)]
                self.call(*given, out=Array(out, **options), lse=Array(log, **options), slopes=Array(self.slopes, **options))
                np.testing.assert_array_equal(out, expected)
                np.testing.assert_array_equal(log, lse)
        with self.assertRaisesRegex(TypeError, "pass out="):
            self.call(Array(q), Array(k), Array(v))
        with self.assertRaisesRegex(TypeError, "list is not an array"):
            self.call(q.tolist(), k, v)

    def test_bad_calls(self):
        q, k, v = arrays()
        self.refuses("QM0511", q, Array(k, (2, 0)), v)
        self.refuses("QM0512", q.astype(np.float16), k, v)
        self.refuses("QM0512", q, k, v, slopes=self.slopes.astype(np.int32))
        self.refuses("QM0513", q[0], k, v)
        self.refuses("QM0513", q, k, v, slopes=self.slopes[:, 0])
        self.refuses("QM0515", q[:, :3], k, v)
        self.refuses("QM0515", q, k[:, :, :5], v)
        self.refuses("QM0515", q, k, v, out=np.full((1, 4, 7, 16), 7, np.float32)[:, :, :5])
        self.refuses("QM0515", q, k, v, slopes=self.slopes[:3])
        self.refuses("QM0516", np.repeat(q, 2, axis=3)[..., ::2], k, v)
        squeezed = np.lib.stride_tricks.as_strided(np.zeros(24, np.float32), (1, 4, 6), (0, 0, 4), writeable=True)
        self.refuses("QM0516", q, k, v, lse=squeezed)
        unaligned = np.zeros(q.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(q.shape)
        self.refuses("QM0517", unaligned, k, v)

    def test_threads(self):
        q, k, v = arrays(rows=64, keys=64)
        expected = self.call(q, k, v)[0]
        wrong, kernel = [], qa.load(self.path)["windowed"]  # loaded by several threads at once, too

        def work():
            for _ in range(50):
                if not np.array_equal(kernel(q, k, v, slopes=self.slopes, window=3, threads=1)[0], expected):
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertFalse(wrong)

    def test_read_only_arrays_are_no_results(self):
        q, k, v = arrays()
        for array in (q, k, v, self.slopes):
            array.flags.writeable = False
        try:
            o, lse = self.call(q, k, v)  # as inputs they are like others
            for out in (q, Array(o, read_only=True)):
                with self.assertRaisesRegex(ValueError, "read-only"):
                    self.call(q, k, v, out=out)
            with self.assertRaisesRegex(ValueError, "read-only"):
                self.call(q, k, v, lse=np.broadcast_to(np.float32(0), (1, 4, 6)))
        finally:
            self.slopes.flags.writeable = True

    def test_an_operator_lists_what_it_has(self):
        q, k, v = arrays(np.float16)
        with self.assertRaisesRegex(qa.LaunchError, "QM0523: no kernel of operator 'windowed'(.|\n)*it has(.|\n)*help: "):
            self.operator(q, k, v, slopes=self.slopes, window=3)

    def test_bad_arguments(self):
        q, k, v = arrays()
        for error, words, options in (
            (TypeError, "needs slopes=, an array of f32", {"window": 3}),
            (TypeError, r"needs window=, a number \(i32\)", {"slopes": self.slopes}),
            (TypeError, "has no argument widow; it has slopes, window", {"slopes": self.slopes, "window": 3, "widow": 1}),
            (ValueError, "window=2.5 is not a 32-bit integer", {"slopes": self.slopes, "window": 2.5}),
            (ValueError, "window=.* is not a 32-bit integer", {"slopes": self.slopes, "window": 2**31}),
            (ValueError, "layout is", {"slopes": self.slopes, "window": 3, "layout": "shbd"}),
            (ValueError, "threads=-1", {"slopes": self.slopes, "window": 3, "threads": -1}),
            (TypeError, "returns no row_max.*return_row_max=True", {"slopes": self.slopes, "window": 3, "row_max": q}),
            (TypeError, "a stream is", {"slopes": self.slopes, "window": 3, "stream": "main"}),
        ):
            with self.subTest(words), self.assertRaisesRegex(error, words):
                self.kernel(q, k, v, **options)
        with self.assertRaisesRegex(TypeError, "strides are not multiples"):
            record = np.zeros((1, 4, 6, 16), np.dtype([("x", "f4"), ("y", "u1")]))["x"]
            self.call(record, k, v)
        with self.assertRaisesRegex(TypeError, "elements of type complex64"):
            self.call(q.astype(np.complex64), k, v)
        with self.assertRaisesRegex(TypeError, "other order"):
            self.call(q.astype(q.dtype.newbyteorder()), k, v)
        with self.assertRaises(ValueError):
            self.kernel.prepare("gpu")

    def test_bad_files(self):
        def code(path):
            with self.assertRaises(qa.LaunchError) as caught:
                qa.load(path)
            return caught.exception.code

        folder = pathlib.Path(FOLDER.name)
        self.assertEqual(code(folder / "missing.json"), "QM0503")
        (folder / "cut.json").write_text((folder / "attn.json").read_text()[:200])
        self.assertEqual(code(folder / "cut.json"), "QM0504")
        (folder / "libcut.so").write_bytes(self.path.read_bytes()[:4000])
        self.assertEqual(code(folder / "libcut.so"), "QM0524")

    def test_a_closed_library_is_not_called(self):
        with qa.load(self.path) as library:
            operator = library["windowed"]
        (kernel,) = operator.kernels
        for use in (lambda: operator(*arrays(), slopes=self.slopes, window=3), operator.prepare, kernel.prepare, kernel.select):
            with self.assertRaisesRegex(qa.LaunchError, "is closed"):
                use()
        library.close()  # again: no harm

    def test_without_the_runtime(self):
        text = "import qimeng_attention as qa\ntry: qa.load('x.json')\nexcept qa.LaunchError as error: print(error)"
        self.assertRegex(run_python(text, QM_LIBRARY="/nowhere/libqimeng.so").out, "libqimeng.so is not found.*\nhelp: install the wheel")
        text = "import qimeng_attention, sys; print([m for m in ('numpy', 'torch', 'ctypes') if m in sys.modules])"
        self.assertEqual(run_python(text, QM_LIBRARY="/nowhere").out, "['ctypes']\n")


@unittest.skipUnless("QM_CUDA_DRIVER" in os.environ, "QM_CUDA_DRIVER does not name the tests' driver")
class OnTheFakeDriver(unittest.TestCase):
    """A libcuda.so.1 whose memory is the host's: what reaches the driver, not what a kernel computes."""

    @classmethod
    def setUpClass(cls):
        cls.driver = ctypes.CDLL(os.environ["QM_CUDA_DRIVER"])
        # The fake driver's images take 48 slots: q, k, v and o of rank 4, lse, a buffer of rank 2.
        slopes = qa.buffer("f32", ["heads", 1], "slopes")
        spec = qa.Spec(
            name="on_gpu", heads=4, kv_heads=2, head_dim=64, dtype="f16", return_lse=True, mask=masks.causal("bottom_right"),
            score_mod=lambda s, b, h, i, j: s * slopes[h, 0], arguments=[slopes],
        )  # fmt: skip
        cls.kernel = qa.load(qa.build([spec], pathlib.Path(FOLDER.name) / "gpu", ["sm_80"]))["on_gpu"]
        cls.q = np.zeros((1, 4, 6, 64), np.float16)
        cls.k = np.zeros((1, 2, 9, 64), np.float16)
        cls.slopes = np.ones((4, 1), np.float32)

    def setUp(self):
        self.driver.fakeCudaSetCurrent(None)

    def call(self, device=(2, 0), **options):
        inputs = [Array(x, device) for x in (self.q, self.k, self.k)]
        results = {"out": Array(self.q.copy(), device), "lse": Array(np.zeros((1, 4, 6), np.float32), device)}
        self.kernel(*inputs, slopes=Array(self.slopes, device), **{**results, **options})
        return inputs

    def test_launches_and_tells_producers_the_stream(self):
        self.assertEqual(self.call()[0].streams, [1], "1 is the default stream of DLPack")
        stream = self.stream()
        self.assertEqual(self.call(stream=stream.value)[0].streams, [stream.value])

        class Stream:
            def __cuda_stream__(self):
                return 0, stream.value

        self.assertEqual(self.call(stream=Stream())[0].streams, [stream.value])

    def stream(self):
        context, stream = ctypes.c_void_p(), ctypes.c_void_p()
        self.driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 100)
        self.driver.cuCtxPushCurrent_v2(context)
        self.driver.cuStreamCreate(ctypes.byref(stream), 0)
        return stream

    def test_the_gpu_decides(self):
        with self.assertRaises(qa.LaunchError) as caught:
            self.call((2, 7))
        self.assertEqual(caught.exception.code, "QM0533")
        self.assertIn(self.kernel.kernels[0].select("cuda").target, ("sm_80",))
        with self.assertRaises(qa.LaunchError) as caught:
            self.kernel.kernels[0].select("cpu")
        self.assertEqual(caught.exception.code, "QM0508")

    def test_capabilities(self):
        from qimeng_attention.compiler import target_of

        self.assertEqual(target_of((2, 0)), "sm_80")
        self.assertEqual(target_of((2, 1)), "sm_90a")
        self.assertEqual(target_of((1, 0)), "cpu")


def tearDownModule():
    FOLDER.cleanup()


if __name__ == "__main__":
    unittest.main()
