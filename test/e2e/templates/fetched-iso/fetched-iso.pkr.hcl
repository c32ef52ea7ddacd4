variable "proxmox_url" { type = string }
variable "proxmox_host" { type = string }
variable "proxmox_username" { type = string }
variable "proxmox_password" { type = string }
variable "proxmox_skip_tls_verify" { type = bool }
variable "proxmox_pool" { type = string }
variable "proxmox_storage_pool" { type = string }
variable "proxmox_storage_format" { type = string }
variable "iso_storage_pool" { type = string }
variable "ansible_home" { type = string }
variable "ludus_nat_interface" { type = string }
variable "iso_url" {
  type    = string
  default = "https://images.example/12/small.iso"
}
variable "vm_name" {
  type    = string
  default = "fetched-iso-template"
}

source "proxmox-iso" "fetched" {
  proxmox_url              = var.proxmox_url
  username                 = var.proxmox_username
  password                 = var.proxmox_password
  insecure_skip_tls_verify = var.proxmox_skip_tls_verify
  node                     = var.proxmox_host
  pool                     = var.proxmox_pool
  vm_name                  = var.vm_name
  template_name            = var.vm_name
  iso_url                  = var.iso_url
  iso_checksum             = "sha512:b87945d57b742b3ffac4d156d6be668998fa3166d23e036d3ae069e6a6f010c81b1b1293c109f8232035faa0da5b810dc3d72a2d7ec276cd6ef0f63c5bd56af1"
  iso_storage_pool         = var.iso_storage_pool
  unmount_iso              = true
  os                       = "l26"
  cores                    = 1
  memory                   = 512
  qemu_agent               = true
  scsi_controller          = "virtio-scsi-single"
  disks {
    type              = "scsi"
    disk_size         = "8G"
    storage_pool      = var.proxmox_storage_pool
    storage_pool_type = "lvm-thin"
    format            = var.proxmox_storage_format
  }
  network_adapters {
    model  = "virtio"
    bridge = var.ludus_nat_interface
  }
  http_directory = "http"
  boot_wait      = "1s"
  boot_command   = ["<esc><wait>auto url=http://{{ .HTTPIP }}:{{ .HTTPPort }}/preseed.cfg<enter>"]
  ssh_username   = "ada"
  ssh_password   = "lovelace"
  ssh_timeout    = "10m"
}

build {
  sources = ["source.proxmox-iso.fetched"]
  provisioner "shell" {
    inline = ["echo lovelace | sudo -S sh -c 'echo built from an image of all > /etc/made-by-packer'"]
  }
}
