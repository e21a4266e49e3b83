"""Learning one stream on many workers, with the same model whatever their number.

::

    Stream, in its order -> shards.cut: by position alone
        -> work.learn_shard, on a worker: reads and looks where the data lie, learns, gives a model file
        -> work.merge_parts, on a worker: two neighbours become one, in the fixed tree of shards.merges
        -> run: the last one, merged behind what the model knew before, with the lesson that tells what was learned

``parts`` keeps the model files of what is finished in a folder, until the whole is saved: whoever stops goes on from
there. ``workers`` opens the processes of this machine, or the scheduler of a Dask cluster. Only ``run`` knows both.
"""
