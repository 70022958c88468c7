"""``format("twinlog")`` as Spark meets it."""

from __future__ import annotations

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import StructType

from pyspark_twinlog.columns import spark_schema
from pyspark_twinlog.options import read_options, write_options


class TwinlogDataSource(DataSource):
    """Options are checked where they are used: Spark makes this object for reading and for writing alike."""

    @classmethod
    def name(cls) -> str:
        return "twinlog"

    def schema(self) -> StructType:
        # Whether a batch or a stream is meant is not known yet; what they share says which columns there are.
        bounds = ("ending", "starting")
        shared = {name: value for name, value in self.options.items() if not name.lower().startswith(bounds)}
        return spark_schema(read_options(shared, streaming=True).columns)

    def reader(self, schema: StructType) -> DataSourceReader:
        from pyspark_twinlog.source import BatchReader, FilteringReader

        options = read_options(self.options, streaming=False)
        return FilteringReader(options) if options.pushdown else BatchReader(options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        from pyspark_twinlog.source import StreamReader

        return StreamReader(read_options(self.options, streaming=True))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        from pyspark_twinlog.sink import BatchWriter, EachBatchWriter

        options = write_options(self.options, streaming=False)
        if options.epoch:
            return EachBatchWriter(write_options(self.options, streaming=True), schema)
        return BatchWriter(options, schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        from pyspark_twinlog.sink import StreamWriter

        return StreamWriter(write_options(self.options, streaming=True), schema)
