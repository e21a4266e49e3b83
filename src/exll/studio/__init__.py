"""The studio: teach, ask, see why and correct in the browser. ``exll studio`` serves it.

The modules, from the disk to the browser::

    schema, store                    rows in SQLite (WAL): examples in their roles, images, the Inbox
    edits, versions, authors         steps that can be undone and redone, versions to return to, who made a step
    pictures, checkpoints            files: images by content hash, thumbnails, saved models
    model, live                      the model in memory: one writer, answers at any time, can be rebuilt from the rows
    analysed_image, recent_images    from the bytes of a file to a vector; images asked about a moment ago
    thread_pool, events              threads with bounded queues; events for open pages
    project                          all of the above, opened and closed together
    actions, class_names             what a person does to a project: teach, correct, relabel, hold out, undo
    inbox, inbox_rows, inbox_groups  photos that were unusual or unknown: kept within bounds (incoming), grouped, named
    evaluation, learning_curve       how good the model is on photos that are held out
    near_duplicates                  photos that are almost equal
    dataset_export, dataset_import   photos in and out as zips, with a folder per class (zip_folders) and a manifest
    zip_reading                      a zip from anybody: bounded, and what is damaged is told
    networks, projects, sample       several projects in one server; one to try
    project_paths                    the addresses of the other projects
    settings, rereading              settings; another network for all photos
    guards, tokens, limits           who may ask, how much, how often
    certificates, one_time_codes     how other devices come in: TLS and links that work once (addresses, return_path)
    errors, error_responses          what can go wrong, and how it is said in JSON
    routes, app, serving, welcome    the JSON API and the pages, the server around them, and what it says at start

The idea behind "nothing is lost": an example is a row with a number, a label and a vector, committed before anybody is
told. The rows are the truth; the model has learned those that are neither deleted nor held out, one at a time. Teaching
appends a row and a step. Whatever else changes what the model knows (undo, relabel, hold out, delete, rename, merge)
gives the rows a new *generation*. Right after the commit the model forgets the rows that are gone or have another
label, and learns those that came; or a class gets another name. A saved model is used only with the generation that it
stands for. Where there is none, a start learns all rows in the order of their numbers.

What was relabelled or brought back was learned last, and not at its old place. Means and covariance do not depend on
that; prototypes, and confidence with them, do a little, as when photos are taught in another order. So no replay
follows an edit. The model is replayed where it cannot be changed in place: it broke off, its preset cannot, or very
much came back. That is done in the background, while the old model answers and goes on learning; the new one takes its
place when it has caught up.
"""
