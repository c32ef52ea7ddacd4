# Windows Server 2022, the evaluation version of 180 days.

variable "proxmox_url" {
  type = string
}
variable "proxmox_host" {
  type = string
}
variable "proxmox_username" {
  type    = string
  default = ""
}
variable "proxmox_password" {
  type      = string
  default   = ""
  sensitive = true
}
variable "proxmox_skip_tls_verify" {
  type    = bool
  default = false
}
variable "proxmox_pool" {
  type = string
}
variable "proxmox_storage_pool" {
  type = string
}
variable "proxmox_storage_format" {
  type = string
}
variable "iso_storage_pool" {
  type = string
}
variable "ansible_home" {
  type = string
}
variable "ludus_nat_interface" {
  type = string
}
variable "vm_name" {
  type    = string
  default = "win2022-server-x64-template"
}
variable "description" {
  type    = string
  default = "Windows Server 2022, localuser:password"
}
variable "os" {
  type    = string
  default = "win11"
}

# Not tried on Windows' own hardware by the tests: they only rehearse Windows. Needs Packer 1.9 or later with the plugin proxmox 1.2, and xorriso.
source "proxmox-iso" "win2022" {
  proxmox_url              = var.proxmox_url
  insecure_skip_tls_verify = var.proxmox_skip_tls_verify
  node                     = var.proxmox_host
  pool                     = var.proxmox_pool

  vm_name              = var.vm_name
  template_name        = var.vm_name
  template_description = var.description
  os                   = var.os
  cores                = 4
  memory               = 8192
  cpu_type             = "host"
  qemu_agent           = true
  scsi_controller      = "virtio-scsi-single"

  disks {
    type         = "virtio"
    disk_size    = "250G"
    storage_pool = var.proxmox_storage_pool
    format       = var.proxmox_storage_format
  }
  network_adapters {
    model  = "virtio"
    bridge = var.ludus_nat_interface
  }

  boot_iso {
    type             = "sata"
    iso_url          = "https://software-static.download.prss.microsoft.com/sg/download/888969d5-f34g-4e03-ac9d-1f9786c66749/SERVER_EVAL_x64FRE_en-us.iso"
    iso_checksum     = "sha256:3e4fa6d8507b554856fc9ca6079cc402df11a8b79344871669f0251535255325"
    iso_storage_pool = var.iso_storage_pool
    unmount          = true
  }
  # E: drivers, F: answers
  additional_iso_files {
    type             = "sata"
    index            = 3
    iso_url          = "https://fedorapeople.org/groups/virt/virtio-win/direct-downloads/stable-virtio/virtio-win.iso"
    iso_checksum     = "none"
    iso_storage_pool = var.iso_storage_pool
    unmount          = true
  }
  additional_iso_files {
    type             = "sata"
    index            = 4
    cd_files         = ["answers/Autounattend.xml", "scripts/winrm.ps1"]
    cd_label         = "answers"
    iso_storage_pool = var.iso_storage_pool
    unmount          = true
  }

  boot_wait    = "5s"
  boot_command = ["<spacebar><wait><spacebar>"]

  communicator   = "winrm"
  winrm_username = "localuser"
  winrm_password = "password"
  winrm_use_ssl  = true
  winrm_insecure = true
  winrm_timeout  = "4h"
}

build {
  sources = ["source.proxmox-iso.win2022"]

  provisioner "powershell" {
    inline = [
      "powercfg /hibernate off",
      "Remove-Item -Recurse -Force C:/Windows/Temp/* -ErrorAction SilentlyContinue",
    ]
  }
}
