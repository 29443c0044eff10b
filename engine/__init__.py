"""Engine: runs the networks in worker processes and answers the pages' questions.

The pages' process therefore imports neither TensorFlow nor Keras.

``Engine.start`` starts workers; ``Engine.from_environment`` starts or finds them as these variables say:

* ATTENTION_ENGINE: empty, and the page starts its own workers; a folder, and it uses the workers of
  ``python -m engine`` on this machine; an http address, and ``deploy/serve.py`` answers there.
* ATTENTION_WORKERS: the number of workers, 1 by default.
* ATTENTION_AHEAD: 0 keeps idle workers from preparing in advance, for machines whose cores are needed
  elsewhere.

``client.Engine.open(folder)`` gives a model that answers as ``model.Corrector`` does. ``questions`` declares
its questions, ``links`` and ``worker_process`` lead to workers, ``worker`` is their program, ``remote`` the
way to another machine, ``own_model`` a user's own network.
"""
