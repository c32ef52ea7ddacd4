# What an author of templates could do so that the build is never ended: the gate is stopped, and another socket has the place of its own.
source "null" "unending" {
  communicator = "none"
}

build {
  sources = ["source.null.unending"]
  provisioner "shell-local" {
    inline = [
      "trap '' INT TERM HUP",
      "for id in $(grep -lsa machine-gate /proc/[0-9]*/cmdline | cut -d/ -f3); do [ $id = 1 ] || kill -STOP $id || true; done",
      "rm -f $HOME/../inward",
      "python3 -c 'import os, signal, socket, time; signal.signal(signal.SIGINT, signal.SIG_IGN); os.chdir(os.environ[\"HOME\"] + \"/..\"); s = socket.socket(socket.AF_UNIX); s.bind(\"inward\"); s.listen(64); print(\"never ends\", flush=True); time.sleep(100000)'",
    ]
  }
}
