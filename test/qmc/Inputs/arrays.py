"""Reads .npy and .npz files without numpy."""
import ast
import struct
import zipfile


def parse(data):
    """(shape, values) of the bytes of a .npy file, version 1."""
    assert data[:6] == b"\x93NUMPY" and data[6] == 1
    (length,) = struct.unpack("<H", data[8:10])
    assert (10 + length) % 64 == 0, "data is not aligned"
    header = ast.literal_eval(data[10 : 10 + length].decode())
    code = {"<f4": "f", "<f2": "e", "<f8": "d", "<i4": "i"}[header["descr"]]
    values = [v for (v,) in struct.iter_unpack("<" + code, data[10 + length :])]
    return header["shape"], values


def read(path):
    """Name to (shape, values)."""
    if not path.endswith(".npz"):
        with open(path, "rb") as file:
            return {"array": parse(file.read())}
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {
            name.removesuffix(".npy"): parse(archive.read(name))
            for name in sorted(archive.namelist())
        }
