"""Building blocks for task files, in one namespace: tables, splits, files, archives, miniatures."""

from podium.data.columns import draw_table, read_columns
from podium.data.fabricate import (
    WORDS,
    hex_ids,
    picture,
    pictures,
    sentences,
    sound,
    write_bytes,
    write_files,
)
from podium.data.formats.archives import members_of, opened_member, unpacked, write_7z, write_tar, write_zip, zipped
from podium.data.formats.csv_files import lines_beside, one_hot, read_csv, read_json, renumber, sample_of, write_csv
from podium.data.formats.dicom import dicom
from podium.data.formats.image_files import picture_of, pixels_of
from podium.data.formats.numpy_files import read_array, write_array
from podium.data.formats.parquet_json import read_json_lines, write_json, write_json_lines
from podium.data.pandas_dtypes import retyped
from podium.data.split import (
    RAW_ORDER,
    split_groups,
    split_in_order,
    split_later,
    split_per_category,
    split_rows,
    split_values,
    split_whole_groups,
)
from podium.data.split_parts import file_names, link_parts, split_table, write_answers, write_parts, zip_parts
from podium.safefs.atomic_files import find_files, link_file, link_files, link_path, link_tree

__all__ = [
    "RAW_ORDER",
    "WORDS",
    "dicom",
    "draw_table",
    "file_names",
    "find_files",
    "hex_ids",
    "lines_beside",
    "link_file",
    "link_files",
    "link_parts",
    "link_path",
    "link_tree",
    "members_of",
    "one_hot",
    "opened_member",
    "picture",
    "picture_of",
    "pictures",
    "pixels_of",
    "read_array",
    "read_columns",
    "read_csv",
    "read_json",
    "read_json_lines",
    "renumber",
    "retyped",
    "sample_of",
    "sentences",
    "sound",
    "split_groups",
    "split_in_order",
    "split_later",
    "split_per_category",
    "split_rows",
    "split_table",
    "split_values",
    "split_whole_groups",
    "unpacked",
    "write_7z",
    "write_answers",
    "write_array",
    "write_bytes",
    "write_csv",
    "write_files",
    "write_json",
    "write_json_lines",
    "write_parts",
    "write_tar",
    "write_zip",
    "zip_parts",
    "zipped",
]
