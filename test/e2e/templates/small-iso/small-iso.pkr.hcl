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
variable "vm_name" {
  type    = string
  default = "small-iso-template"
}

source "proxmox-iso" "small" {
  proxmox_url              = var.proxmox_url
  username                 = var.proxmox_username
  password                 = var.proxmox_password
  insecure_skip_tls_verify = var.proxmox_skip_tls_verify
  node                     = var.proxmox_host
  pool                     = var.proxmox_pool
  vm_name                  = var.vm_name
  template_name            = var.vm_name
  iso_file                 = "${var.iso_storage_pool}:iso/debian-12.11.0-amd64-netinst.iso"
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
  ssh_username   = "debian"
  ssh_password   = "debian"
  ssh_timeout    = "10m"
}

build {
  sources = ["source.proxmox-iso.small"]
  provisioner "shell" {
    inline = ["echo debian | sudo -S sh -c 'echo built from a disc > /etc/made-by-packer'"]
  }
}
