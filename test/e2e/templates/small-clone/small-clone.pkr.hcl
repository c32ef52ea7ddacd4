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
 type = string 
 default = "small-clone-template" 
}

source "proxmox-clone" "small" {
  proxmox_url              = var.proxmox_url
  username                 = var.proxmox_username
  password                 = var.proxmox_password
  insecure_skip_tls_verify = var.proxmox_skip_tls_verify
  node                     = var.proxmox_host
  pool                     = var.proxmox_pool
  clone_vm                 = "debian-12-x64-server-template"
  full_clone = false
  vm_name                  = var.vm_name
  template_name            = var.vm_name
  cores = 1
  memory = 512
  os = "l26"
  qemu_agent = true
  network_adapters {
    model  = "virtio"
    bridge = var.ludus_nat_interface
  }
  ssh_username = "debian"
  ssh_password = "debian"
  ssh_timeout  = "5m"
}

build {
  sources = ["source.proxmox-clone.small"]
  provisioner "shell" {
    inline = ["echo debian | sudo -S sh -c 'echo built > /etc/made-by-packer'"]
  }
}
