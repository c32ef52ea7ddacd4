/** The example configuration that a server shows: a small domain, an office workstation and an attacker. */
export const exampleRangeConfig = `# A domain controller, an office workstation and an attacker's machine in a network of its own.
# {{ range_id }} stands for the id of the range. Every machine gets the address 10.<number of the range>.<vlan>.<ip_last_octet>.
ludus:
  - vm_name: "{{ range_id }}-dc01"
    hostname: "{{ range_id }}-DC01" # Windows uses the first 15 characters
    template: win2022-server-x64-template
    vlan: 10
    ip_last_octet: 11
    ram_gb: 6
    cpus: 4
    windows: {}
    domain:
      fqdn: corp.example
      role: primary-dc

  - vm_name: "{{ range_id }}-win11"
    hostname: "{{ range_id }}-WIN11"
    template: win11-22h2-x64-enterprise-template
    vlan: 10
    ip_last_octet: 21
    ram_gb: 8
    cpus: 4
    windows:
      chocolatey_packages:
        - vscodium
        - 7zip
      office_version: 2021
      office_arch: 64bit
    domain:
      fqdn: corp.example
      role: member

  - vm_name: "{{ range_id }}-kali"
    hostname: "{{ range_id }}-kali"
    template: kali-x64-desktop-template
    vlan: 99
    ip_last_octet: 5
    ram_gb: 4
    cpus: 4
    linux: true
    testing: # keeps its state and its way out while the others are cut off
      snapshot: false
      block_internet: false

network:
  inter_vlan_default: REJECT # what no rule below allows
  rules: # where several match, the last one decides
    - name: Web services of the attacker
      vlan_src: 10
      vlan_dst: 99
      protocol: tcp
      ports: "80, 443, 8080:8089" # quote lists and ranges
      action: ACCEPT
    - name: Name service of the attacker
      vlan_src: 10
      vlan_dst: 99
      protocol: udp
      ports: 53
      action: ACCEPT
    - name: Attacker to the workstation
      vlan_src: 99
      vlan_dst: 10
      ip_last_octet_dst: 21
      protocol: all
      ports: all
      action: ACCEPT
    - name: Callbacks to VPN clients
      vlan_src: 99
      vlan_dst: wireguard
      protocol: tcp
      ports: 4444
      action: ACCEPT
`
