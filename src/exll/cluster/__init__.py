"""Learning one stream on many workers, with the same model whatever their number.

::

    Stream, in its order -> shards.cut: by position alone
        -> work.learn_shard, on a worker: reads and looks where the data lie, learns, gives a model file
        -> work.merge_parts, on a worker: two neighbours become one, in the fixed tree of shards.merges
        -> run: the last one, behind what the model knew before, with the lesson that says what was learned

``tree`` knows which models are finished and which can be made now; ``parts`` keeps their files in a folder until the
whole is saved, so that a stopped run can continue; ``handing_out`` gives tasks to the workers and counts workers that
die; ``workers`` starts the processes of this machine, or connects to the scheduler of a Dask cluster.
"""
