# Debian 12 from the network installer.

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
  default = "debian-12-x64-server-template"
}
variable "description" {
  type    = string
  default = "Debian 12, debian:debian"
}
variable "os" {
  type    = string
  default = "l26"
}

source "proxmox-iso" "debian12" {
  proxmox_url              = var.proxmox_url
  username                 = var.proxmox_username
  password                 = var.proxmox_password
  insecure_skip_tls_verify = var.proxmox_skip_tls_verify
  node                     = var.proxmox_host
  pool                     = var.proxmox_pool

  vm_name              = var.vm_name
  template_name        = var.vm_name
  template_description = var.description
  os                   = var.os
  cores                = 2
  memory               = 4096
  cpu_type             = "host"
  qemu_agent           = true
  scsi_controller      = "virtio-scsi-single"

  disks {
    type              = "virtio"
    disk_size         = "200G"
    storage_pool      = var.proxmox_storage_pool
    storage_pool_type = "lvm-thin"
    format            = var.proxmox_storage_format
  }
  network_adapters {
    model  = "virtio"
    bridge = var.ludus_nat_interface
  }

  iso_url          = "https://cdimage.debian.org/cdimage/archive/12.11.0/amd64/iso-cd/debian-12.11.0-amd64-netinst.iso"
  iso_checksum     = "sha256:30ca12a15cae6a1033e03ad59eb7f66a6d5a258dcf27acd115c2bd42d22640e8"
  iso_storage_pool = var.iso_storage_pool
  unmount_iso      = true

  http_directory = "http"
  boot_wait      = "10s"
  boot_command = [
    "<esc><wait>",
    "auto priority=critical url=http://{{ .HTTPIP }}:{{ .HTTPPort }}/preseed.cfg hostname=debian domain=",
    "<enter>",
  ]

  ssh_username = "debian"
  ssh_password = "debian"
  ssh_timeout  = "45m"
}

build {
  sources = ["source.proxmox-iso.debian12"]

  # what only one machine may have
  provisioner "shell" {
    execute_command = "echo debian | sudo -S sh -eux '{{ .Path }}'"
    inline = [
      "rm -f /etc/machine-id /var/lib/dbus/machine-id /etc/ssh/ssh_host_*",
      "touch /etc/machine-id",
      "printf '[Unit]\nBefore=ssh.service\nConditionPathExists=!/etc/ssh/ssh_host_ed25519_key\n[Service]\nType=oneshot\nExecStart=/usr/bin/ssh-keygen -A\n[Install]\nWantedBy=multi-user.target\n' > /etc/systemd/system/ssh-host-keys.service",
      "systemctl enable ssh-host-keys.service",
      "apt-get clean",
      "rm -f /var/lib/dhcp/*.leases",
    ]
  }
}
