import { usualConsolesPerUser } from "@rangewright/application"
import { highestLimit } from "@rangewright/domain"
import { templateLogins } from "./template-logins.ts"
import { boolean, list, mapping, oneOf, optionalBoolean, optionalPort, optionalText, text, wholeNumber } from "./key.ts"

const service = "Service"
const tls = "TLS"
const hypervisor = "Hypervisor"
const inside = "Inside machines"
const network = "Networks and machines"
const ranges = "Ranges"
const sources = "Sources"
const subscriptions = "Subscription roles and licence"
const packages = "Patched QEMU packages"
const vpn = "VPN"
const oidc = "Sign-in with an identity provider (OpenID Connect)"
const keeping = "Retention and logging"

const quota = (resource: "ram" | "cpu" | "vms" | "ranges", about: string) =>
  wholeNumber(0, highestLimit)(ranges, `default_quota_${resource}`, {
    about: `${about} who has no limit of their own or from a group. 0: no limit.`,
    default: 0,
  })

/** All configuration keys: reading, checking, `--help` and docs/configuration.md are derived from this declaration. */
export const keys = {
  host: text(service, "host", {
    about: "Address to listen on. Plain HTTP is served to loopback clients only.",
    default: "0.0.0.0",
  }),
  port: wholeNumber(0, 65_535)(service, "port", {
    about: "Port for HTTPS and, from loopback, plain HTTP. 0 chooses a free one.",
    default: 8080,
  }),
  adminPort: optionalPort(service, "admin_port", {
    about:
      "A second port with the same API, for clients that expect the administrators' port 8081. Loopback only unless expose_admin_port.",
    default: undefined,
    example: "8081",
  }),
  exposeAdminPort: boolean(service, "expose_admin_port", {
    about: "Let admin_port listen on `host` instead of loopback.",
    default: false,
  }),
  data: text(service, "data", {
    about: "Folder of the service: database, keys, certificate. Created with mode 0700.",
    default: "./data",
  }),
  databaseUrl: optionalText(service, "database_url", {
    about: "PostgreSQL instead of the SQLite file in `data`; needed when several instances run.",
    default: undefined,
    example: "postgres://rangewright@db/rangewright",
    secret: true,
  }),
  secretKey: optionalText(service, "secret_key", {
    about:
      "32 bytes as base64 or hex that encrypt stored secrets. Without it, a key file is created in `data`. A database works only with its own key; the command `rotate-key` changes it.",
    default: undefined,
    secret: true,
  }),
  trustedProxies: list(service, "trusted_proxies", {
    about:
      "Addresses or networks of reverse proxies in front of the service. For requests from these, the address in `X-Forwarded-For` counts as the client's; for all others, the address that connects.",
    default: [],
    shown: "none",
    example: "127.0.0.1, 10.0.5.0/24",
  }),
  peerVersion: text(service, "peer_version", {
    about:
      "Version that `GET /` reports to clients, followed by `+rangewright.` and the service's own version. Clients use it to decide which calls they may make; raise it for clients that require a later one.",
    default: "2.3.0",
  }),
  corsOrigin: text(service, "cors_origin", {
    about:
      "Origins that browsers may call from, separated by commas; `*` for any. Pages of these origins may also open consoles with tickets that their server requested.",
    default: "*",
  }),
  webFolder: optionalText(service, "web_folder", {
    about: "Folder of the built web page, which is served at /ui. It is read once, at startup.",
    default: undefined,
    shown: "packages/web/dist of the service's own folder",
  }),
  consolesPerUser: wholeNumber(1, 1000)(service, "consoles_per_user", {
    about: "Consoles that one user may have open at a time in one process.",
    default: usualConsolesPerUser,
  }),

  tlsCert: optionalText(tls, "tls_cert", {
    about:
      "Certificate chain, PEM file, read at startup: restart the service after you renew it. Without it, the service creates its own.",
    default: undefined,
  }),
  tlsKey: optionalText(tls, "tls_key", { about: "Private key of tls_cert, PEM file.", default: undefined }),
  tlsHosts: list(tls, "tls_hosts", {
    about: "Names and addresses in the certificate that the service creates.",
    default: [],
    shown: "localhost, loopback and the host's name",
  }),

  hypervisor: oneOf(["auto", "simulator", "proxmox"])(hypervisor, "hypervisor", {
    about: "`proxmox` or the built-in `simulator`. `auto`: proxmox when proxmox_url is set, else the simulator.",
    default: "auto",
  }),
  proxmoxUrl: list(hypervisor, "proxmox_url", {
    about: "URL of the Proxmox VE API; several nodes of one cluster, separated by commas: when one is down, the next is used.",
    default: [],
    shown: "none",
    example: "https://pve1:8006, https://pve2:8006",
  }),
  proxmoxTokenId: optionalText(hypervisor, "proxmox_token_id", {
    about: "API token, `user@realm!name`.",
    default: undefined,
    example: "rangewright@pve!service",
  }),
  proxmoxTokenSecret: optionalText(hypervisor, "proxmox_token_secret", {
    about: "Secret of the token.",
    default: undefined,
    secret: true,
  }),
  proxmoxFingerprint: list(hypervisor, "proxmox_fingerprint", {
    about:
      "SHA-256 fingerprint of the API's certificate (colons or not); each node has its own, separated by commas. Needed if no authority that this host trusts has signed the certificate.",
    default: [],
    shown: "none",
  }),
  proxmoxCaFile: optionalText(hypervisor, "proxmox_ca_file", {
    about: "PEM file of the authority that signed the API's certificate.",
    default: undefined,
  }),
  proxmoxNode: optionalText(hypervisor, "proxmox_node", {
    about: "The node of a single-node installation, and the node for VMs that nothing else assigns to one.",
    default: undefined,
    shown: "the first node",
  }),
  proxmoxRealm: oneOf(["pve", "pam"])(hypervisor, "proxmox_realm", {
    about: "Realm of the users' accounts on the hypervisor. `pam` needs SSH to the node.",
    default: "pve",
  }),
  sshHost: optionalText(hypervisor, "ssh_host", {
    about:
      "Host for commands on the node: diagnostics, and the address and routes that a migration moves. Without it, diagnostics leave these figures out, and the migration lists what to do by hand.",
    default: undefined,
  }),
  sshPort: wholeNumber(1, 65_535)(hypervisor, "ssh_port", { about: "SSH port of ssh_host.", default: 22 }),
  sshUser: text(hypervisor, "ssh_user", { about: "SSH user on ssh_host.", default: "root" }),
  sshKeyFile: optionalText(hypervisor, "ssh_key_file", {
    about: "File with the private SSH key for ssh_host (OpenSSH format).",
    default: undefined,
  }),
  sshFingerprint: optionalText(hypervisor, "ssh_fingerprint", {
    about: "Host key of ssh_host, `SHA256:…` as `ssh-keygen -lf` prints it. Required with ssh_host.",
    default: undefined,
  }),
  simulatorSpeed: wholeNumber(1, 100_000)(hypervisor, "simulator_speed", {
    about: "How many times faster than real time the built-in simulator runs.",
    default: 20,
  }),
  simulatorNodes: wholeNumber(1, 32)(hypervisor, "simulator_nodes", { about: "Nodes of the built-in simulator.", default: 1 }),
  simulatorTemplates: list(hypervisor, "simulator_templates", {
    about:
      "Templates that the built-in simulator has besides those of common labs (Windows Server 2016 to 2025, Windows 10 and 11, Debian, Ubuntu, Rocky, Kali). `NAME`, or `NAME=SYSTEM` if the name does not contain the system: windows, debian, kali, ubuntu, rocky, almalinux, centos or rhel.",
    default: [],
    shown: "none",
    example: "ubuntu-26.04-x64-server-template, flare-vm-template=windows",
  }),
  simulatorRoles: oneOf(["installed", "any"])(hypervisor, "simulator_roles", {
    about:
      "Roles that the simulator's stand-in (guest_automation: guest-program) runs. `installed`: as on a real hypervisor, a configuration that uses others is refused. `any`: every role, whether it exists or not.",
    default: "installed",
  }),
  observeEvery: wholeNumber(1, 3600)(hypervisor, "observe_every", {
    about: "Seconds between two observations of the whole cluster.",
    default: 10,
  }),

  guestAutomation: oneOf(["auto", "ansible", "guest-program", "none"])(inside, "guest_automation", {
    about:
      "What does the work inside machines. `ansible`: playbooks that run on this host. `guest-program`: the simulator's stand-in. `auto`: ansible on Proxmox VE, the stand-in on the simulator. A deploy that needs work which this host cannot do is refused. `none`: this work is skipped, and the range, its plans and deploys say so.",
    default: "auto",
  }),
  ansiblePlaybook: text(inside, "ansible_playbook", {
    about: "The program that runs playbooks: a name on PATH or a path.",
    default: "ansible-playbook",
  }),
  ansibleCollections: list(inside, "ansible_collections", {
    about: "Additional folders that contain `ansible_collections`, for hosts without the package `ansible`.",
    default: [],
    shown: "none",
  }),
  ansibleSandbox: oneOf(["auto", "required", "off"])(inside, "ansible_sandbox", {
    about:
      "Whether tools of this host (playbooks, ansible-galaxy, git) run in a sandbox (bwrap) with a network of their own, without access to the service's key, database and network and to other users' files. `auto`: if the sandbox works on this host; otherwise roles run only if an administrator installed them and the range's configuration has no templates and no variables named `ansible_…`. `required`: no tool runs without it. `off`: roles can do everything that the service can.",
    default: "auto",
  }),
  toolInternet: boolean(inside, "tool_internet", {
    about:
      "Let roles and ansible-galaxy in their sandbox download from public addresses, and let the service read the certificates of domains that are allowed in testing mode. Private addresses are never reachable, except galaxy_url.",
    default: true,
  }),
  toolDisk: wholeNumber(1, 1_000_000)(inside, "tool_disk", {
    about:
      "Disk space in GiB on this host for the files of one role's run and those that roles keep for its user, in all ranges together (for an administrator, in its range).",
    default: 20,
  }),
  ansibleRoute: oneOf(["direct", "router", "jump"])(inside, "ansible_route", {
    about:
      "`direct`: this host has routes to the ranges' networks. `router`: over SSH through the router of each range. `jump`: over SSH through ansible_jump_host.",
    default: "direct",
  }),
  ansibleJumpHost: optionalText(inside, "ansible_jump_host", {
    about: "SSH host that has routes to the ranges' networks and the NAT network. It only has to allow forwarding.",
    default: undefined,
  }),
  ansibleJumpPort: wholeNumber(1, 65_535)(inside, "ansible_jump_port", { about: "SSH port of ansible_jump_host.", default: 22 }),
  ansibleJumpUser: optionalText(inside, "ansible_jump_user", { about: "SSH user on ansible_jump_host.", default: undefined }),
  ansibleJumpHostKey: optionalText(inside, "ansible_jump_host_key", {
    about:
      "Public host key of ansible_jump_host, type and base64, as `ssh-keyscan` prints them. Required with ansible_jump_host.",
    default: undefined,
    example: "ssh-ed25519 AAAAC3…",
  }),
  ansibleJumpKeyFile: optionalText(inside, "ansible_jump_key_file", {
    about: "File with the private SSH key for ansible_jump_host (OpenSSH format, without a passphrase). Roles cannot read it.",
    default: undefined,
  }),
  ansibleJumpPassword: optionalText(inside, "ansible_jump_password", {
    about: "Password of ansible_jump_user, if there is no key.",
    default: undefined,
    secret: true,
  }),
  windowsProtocol: oneOf(["winrm", "psrp"])(inside, "windows_protocol", {
    about: "Protocol for Windows machines.",
    default: "winrm",
  }),

  templateLogins: templateLogins(inside, "template_logins", {
    about:
      "Logins of templates whose login is not the usual one of their system: a mapping of template names to `user` and `password`. Everybody who may use a range finds the logins of its machines in its inventory, and roles get them.",
    default: new Map(),
    shown: "none",
    example: 'template_logins: { win2022-golden: { user: Administrator, password: "…" } }',
    secret: true,
  }),

  clusterMode: optionalBoolean(network, "cluster_mode", {
    about: "Use VNets of an SDN zone instead of Linux bridges for the networks of ranges.",
    default: undefined,
    shown: "true when the cluster has more than one node",
  }),
  sdnZone: text(network, "sdn_zone", { about: "VXLAN zone of the ranges' VNets in cluster mode.", default: "ludus" }),
  vxlanTagBase: wholeNumber(0, 16_000_000)(network, "vxlan_tag_base", {
    about: "The VXLAN tag of a range's VNet is this number plus the range's number.",
    default: 0,
  }),
  natNetwork: optionalText(network, "ludus_nat_interface", {
    about: "Bridge or VNet of the NAT network 192.0.2.0/24, to which routers' outer interfaces are attached.",
    default: undefined,
    shown: "vmbr1000; ludusnat in cluster mode",
  }),
  protectedAddresses: list(network, "protected_addresses", {
    about:
      "Addresses and networks that neither machines of ranges nor tools such as git and Ansible may reach, such as the hypervisor's own. A network that contains a whole range does not keep its own tools from its machines.",
    example: "10.0.0.2, 192.168.7.0/24",
    default: [],
    shown: "the hosts of proxmox_url that are addresses",
  }),
  vmStorage: optionalText(network, "proxmox_vm_storage_pool", {
    about: "Storage of full clones, and of templates that are built.",
    default: undefined,
    shown: "for clones, that of the template; for templates that are built, local-lvm",
  }),
  vmStorageFormat: text(network, "proxmox_vm_storage_format", {
    about: "Disk format of templates that are built. It must be `raw` on storage that does not hold files.",
    default: "raw",
  }),
  isoStorage: text(network, "proxmox_iso_storage_pool", {
    about: "Storage of the images that templates are installed from.",
    default: "local",
  }),
  packer: text(network, "packer", {
    about: "The program that builds templates: a name on PATH or a path. Packer 1.6.6 or later.",
    default: "packer",
  }),
  packerPlugins: optionalText(network, "packer_plugins", {
    about:
      "Folder of Packer's plugins. With Packer 1.9 or later, which includes none for Proxmox VE, it must contain packer-plugin-proxmox.",
    default: undefined,
  }),
  packerAddress: optionalText(network, "packer_address", {
    about:
      "This host's address as seen from the NAT network. Machines fetch their answer files from it during installation (ports 8000 to 9000).",
    default: undefined,
    shown: "its address in the NAT network, else the one from which it reaches that network",
  }),
  templateBuilds: wholeNumber(1, 64)(network, "template_builds", {
    about: "Maximum number of templates that are built at the same time, for all users together; others wait.",
    default: 1,
  }),
  templateBuilders: oneOf(["everybody", "administrators"])(network, "template_builders", {
    about:
      "Who may upload and build templates. A build runs its author's programs on a machine in the NAT network, next to the outer sides of all routers: choose `administrators` if you do not trust members with that.",
    default: "everybody",
  }),
  templateBuildVms: wholeNumber(1, 64)(network, "template_build_vms", {
    about: "Maximum number of VMs that one build of a template may have at a time.",
    default: 2,
  }),
  templateBuildCores: wholeNumber(1, 4096)(network, "template_build_cores", {
    about: "Maximum number of cores of the VMs of one build together.",
    default: 16,
  }),
  templateBuildMemory: wholeNumber(1, 65_536)(network, "template_build_memory", {
    about: "Maximum memory of the VMs of one build together, in GiB.",
    default: 32,
  }),
  templateBuildDisk: wholeNumber(1, 1_000_000)(network, "template_build_disk", {
    about: "Maximum full size of the disks of one build's VMs and of the images that it uploads, together, in GiB.",
    default: 600,
  }),
  templateImageStorage: wholeNumber(0, 1_000_000)(network, "template_image_storage", {
    about:
      "Space in GiB on proxmox_iso_storage_pool for disc images that the service keeps for all builds (`rw-iso-…`). When it is full, or with 0, each build fetches and uploads its own images, which are removed with it.",
    default: 100,
  }),
  templateBuildAttempts: wholeNumber(1, 100)(network, "template_build_attempts", {
    about:
      "How many times one build may start: a build that is interrupted, for example by a restart of the service, starts over.",
    default: 3,
  }),
  shippedTemplates: boolean(network, "shipped_templates", {
    about:
      "Offer everybody the templates that come with the service: Debian 11, from which routers are cloned, Debian 12 and Windows Server 2022. Templates with the same names that are installed for everybody or by the user take precedence.",
    default: true,
  }),
  templateNodeDownloads: boolean(network, "template_node_downloads", {
    about:
      "Let nodes download images for builds of templates (`iso_download_pve`). Users who build templates can then make the node fetch from any address that it can reach, including private ones, because it follows redirects. Without it, images are downloaded by this host and uploaded.",
    default: false,
  }),
  vmidFrom: wholeNumber(100, 999_999_999)(network, "vmid_from", {
    about: "First VMID for machines of ranges.",
    default: 20_000,
  }),
  vmidTo: wholeNumber(100, 999_999_999)(network, "vmid_to", { about: "Last VMID for machines of ranges.", default: 29_999 }),

  quotaRam: quota("ram", "Memory in GiB for the machines of all ranges of a user"),
  quotaCpus: quota("cpu", "CPUs for the machines of all ranges of a user"),
  quotaVms: quota("vms", "VMs in all ranges of a user"),
  quotaRanges: quota("ranges", "Ranges of a user"),
  reservedRangeNumbers: list(ranges, "reserved_range_numbers", {
    about: "Range numbers (1 to 153) that are never assigned.",
    default: [],
    shown: "none",
  }),
  rangeDefaults: mapping(ranges, "defaults", {
    about: "Defaults for the `defaults` of every range configuration, key by key.",
    default: {},
    shown: "none",
  }),
  deployShown: wholeNumber(0, 60)(ranges, "deploy_shown", {
    about:
      "Minimum number of seconds for which a deploy shows as DEPLOYING, even if there is nothing to do: clients poll every two seconds and wait until they have seen it.",
    default: 5,
  }),
  notificationNetworks: list(ranges, "notification_networks", {
    about:
      "Private networks with servers that `notify` in a range configuration may name, such as those of a chat server of your own. Public addresses need no entry, unless tool_internet is off. Addresses of this host, the hypervisor, the database and protected_addresses are only allowed by an entry for the single address, or for the loopback.",
    default: [],
    shown: "none",
    example: "10.20.0.0/16",
  }),
  inactivityShutdown: text(ranges, "inactivity_shutdown_timeout", {
    about: "Shut ranges down after this idle time, such as `4h` or `30m`; `0`: never. A range can set its own.",
    default: "0",
  }),

  preventUserAnsibleAdd: boolean(sources, "prevent_user_ansible_add", {
    about: "Only administrators install and remove roles and collections.",
    default: false,
  }),
  userDisk: wholeNumber(0, 1_000_000)(sources, "user_disk", {
    about:
      "Disk space in GiB on this host for everything that one user keeps: blueprints, sources, roles, collections, templates and pictures of ranges. Administrators are not limited. 0: no limit.",
    default: 20,
  }),
  sourceSchemes: list(sources, "source_schemes", {
    about:
      "Protocols by which git may reach repositories: `https`, `ssh`, and, if you trust the users who register sources, also `http`, `git` or `file` (only inside source_folders).",
    default: ["https", "ssh"],
  }),
  sourceNetworks: list(sources, "source_networks", {
    about:
      "Private networks that sources may come from. Public addresses need no entry. Addresses of this host, the hypervisor, the database and protected_addresses are only allowed by an entry for the single address, or for the loopback.",
    default: [],
    shown: "none",
    example: "10.20.0.0/16, fd00:20::/32",
  }),
  sourceFolders: list(sources, "source_folders", {
    about: "Folders of this host that administrators may register as sources, with everything below them.",
    default: [],
    shown: "none",
  }),
  sourceCaFile: optionalText(sources, "source_ca_file", {
    about: "PEM file of the authorities that sign the certificates of git servers, instead of those that this host trusts.",
    default: undefined,
  }),
  git: text(sources, "git", { about: "The git program: a name on PATH or a path.", default: "git" }),

  galaxyUrl: text(sources, "galaxy_url", {
    about: "Galaxy server that publishes the roles and collections which blueprints require.",
    default: "https://galaxy.ansible.com",
  }),
  galaxyToken: optionalText(sources, "galaxy_token", {
    about: "Token for galaxy_url.",
    default: undefined,
    secret: true,
  }),
  ansibleGalaxy: text(sources, "ansible_galaxy", {
    about: "The program that installs roles and collections: a name on PATH or a path.",
    default: "ansible-galaxy",
  }),
  roleFolder: optionalText(sources, "role_folder", {
    about:
      "Folder that contains `roles/` and `collections/`, for sites without a network: required roles and collections are taken from it instead of from Galaxy.",
    default: undefined,
  }),

  subscriptionRegistry: optionalText(subscriptions, "subscription_registry", {
    about: "HTTPS URL of a registry of subscription roles, as created by `subscription pack`.",
    default: undefined,
    example: "https://roles.example.org/registry",
  }),
  subscriptionToken: optionalText(subscriptions, "subscription_token", {
    about: "Bearer token for subscription_registry.",
    default: undefined,
    secret: true,
  }),
  subscriptionCaFile: optionalText(subscriptions, "subscription_ca_file", {
    about: "PEM file of the authority that signed the registry's certificate.",
    default: undefined,
  }),
  subscriptionFolder: optionalText(subscriptions, "subscription_folder", {
    about: "The registry as a folder of this host, for sites without a network.",
    default: undefined,
  }),
  subscriptionKeys: list(subscriptions, "subscription_keys", {
    about: "Public keys that the registry must be signed by, `ed25519:…` as `subscription keygen` prints them.",
    default: [],
    shown: "none",
  }),
  licenseFile: optionalText(subscriptions, "license_file", {
    about:
      "Signed licence file that limits the subscription roles and the enterprise operations (`x-tier` in the OpenAPI document) that may be used. Without it everything is included.",
    default: undefined,
  }),
  licenseKeys: list(subscriptions, "license_keys", {
    about: "Public keys that license_file must be signed by, `ed25519:…` as `subscription keygen` prints them.",
    default: [],
    shown: "none",
  }),

  kmsHost: optionalText(inside, "kms_host", {
    about:
      "KMS host of your organization, to which Windows machines are pointed when they are activated (POST /kms/license): a name or an IPv4 address that they can reach, with the port if it is not 1688. With kms_server: the address at which machines reach that server, if it is not its own address.",
    default: undefined,
    example: "kms.example.org:1688",
  }),
  kmsServer: optionalText(inside, "kms_server", {
    about:
      "Machine that POST /kms/install makes a KMS host: the ID of its range, a slash, and its full name as GET /range shows it. The range must belong to an administrator, and the machine must run a volume-licensed Windows Server. It needs kms_host_key and, once, internet access.",
    default: undefined,
    example: "ADMIN/ADMIN-kms",
  }),
  kmsHostKey: optionalText(inside, "kms_host_key", {
    about: "Your organization's own KMS host product key, for kms_server.",
    default: undefined,
    secret: true,
  }),

  nodePackagesFolder: optionalText(packages, "node_packages_folder", {
    about:
      "Folder of this host with patched QEMU packages that you built and signed (`subscription sign-packages`). POST /antisandbox/install-custom installs them on node_packages_nodes. Set all four keys of this group together.",
    default: undefined,
    example: "/srv/qemu-packages",
  }),
  nodePackagesKeys: list(packages, "node_packages_keys", {
    about: "Public keys that the folder must be signed by, `ed25519:…` as `subscription keygen` prints them.",
    default: [],
    shown: "none",
  }),
  nodePackagesNodes: list(packages, "node_packages_nodes", {
    about:
      "The nodes, in the order in which they are changed: `NODE=HOST SHA256:…`, with the node's name, its host for SSH (with `:PORT` if that is not 22), and its host key as `ssh-keygen -lf` prints it. Name all nodes of the cluster. The service connects as root.",
    default: [],
    shown: "none",
    example: "pve1=10.0.0.11 SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
  }),
  nodePackagesSshKeyFile: optionalText(packages, "node_packages_ssh_key_file", {
    about: "File with the private SSH key with which the service logs in to these nodes as root (OpenSSH format).",
    default: undefined,
  }),

  wireguardEndpoint: optionalText(vpn, "wireguard_endpoint", {
    about:
      "Name or address by which users' WireGuard clients reach the VPN's server. With it and wireguard_public_key users can download the file for their client.",
    default: undefined,
    example: "vpn.example.org",
  }),
  wireguardPort: wholeNumber(1, 65_535)(vpn, "wireguard_port", {
    about: "UDP port of the VPN's server, as clients reach it.",
    default: 51_820,
  }),
  wireguardPublicKey: optionalText(vpn, "wireguard_public_key", {
    about: "Public key of the VPN's server, as `wg show INTERFACE public-key` prints it.",
    default: undefined,
  }),
  wireguardServer: oneOf(["none", "local", "ssh"])(vpn, "wireguard_server", {
    about:
      "Where the VPN's server is, so that the service can configure it: `local` on the service's own host, `ssh` on another Linux host. `none`: you enter the peers by hand.",
    default: "none",
  }),
  wireguardInterface: text(vpn, "wireguard_interface", {
    about:
      "The interface on the VPN's server. It must exist, with its key and 198.51.100.1/24. Peers that have only addresses from 198.51.100.2 to .150 and do not belong to a user are removed; others stay.",
    default: "wg0",
  }),
  wireguardSshHost: optionalText(vpn, "wireguard_ssh_host", {
    about: "SSH host of the VPN's server, with wireguard_server: ssh.",
    default: undefined,
  }),
  wireguardSshPort: wholeNumber(1, 65_535)(vpn, "wireguard_ssh_port", { about: "SSH port of wireguard_ssh_host.", default: 22 }),
  wireguardSshUser: text(vpn, "wireguard_ssh_user", {
    about: "SSH user on wireguard_ssh_host; a user other than root needs `sudo` without a password for `wg` and `nft`.",
    default: "root",
  }),
  wireguardSshKeyFile: optionalText(vpn, "wireguard_ssh_key_file", {
    about: "File with the private SSH key for wireguard_ssh_host (OpenSSH format).",
    default: undefined,
  }),
  wireguardSshFingerprint: optionalText(vpn, "wireguard_ssh_fingerprint", {
    about: "Host key of wireguard_ssh_host, `SHA256:…` as `ssh-keygen -lf` prints it.",
    default: undefined,
  }),

  oidcIssuer: optionalText(oidc, "oidc_issuer", {
    about:
      "Issuer URL of the identity provider; `.well-known/openid-configuration` must be found below it. Set it together with oidc_client_id and oidc_public_url to let people sign in there.",
    default: undefined,
    example: "https://login.example.org/realms/lab",
  }),
  oidcClientId: optionalText(oidc, "oidc_client_id", { about: "Client ID of this service at the provider.", default: undefined }),
  oidcClientSecret: optionalText(oidc, "oidc_client_secret", {
    about: "Client secret of this service at the provider. Without it the service is a public client.",
    default: undefined,
    secret: true,
  }),
  oidcPublicUrl: optionalText(oidc, "oidc_public_url", {
    about:
      "URL at which browsers open the page, without a path. Register this URL followed by `/ui/login/return` as redirect URI at the provider. Sign-in with the provider works at this address only.",
    default: undefined,
    example: "https://lab.example.org:8080",
  }),
  oidcName: optionalText(oidc, "oidc_name", {
    about: "Name of the provider on the sign-in page.",
    default: undefined,
    shown: "the host of oidc_issuer",
  }),
  oidcScopes: list(oidc, "oidc_scopes", {
    about: "Scopes that are requested from the provider.",
    default: ["openid", "email", "profile"],
    shown: "openid, email, profile",
  }),
  oidcUserClaim: optionalText(oidc, "oidc_user_claim", {
    about:
      "Claim that identifies the user when a person signs in for the first time; it never finds administrators. `email`: the user with this e-mail address, if the provider has verified it. Any other claim must contain the user ID; name only one that people cannot change themselves. After the first sign-in the provider's `sub` identifies the person. Without this key, users connect their account themselves, with their password.",
    default: undefined,
    example: "preferred_username",
  }),
  oidcDomains: list(oidc, "oidc_domains", {
    about:
      "Only people with a verified e-mail address in one of these domains may sign in; subdomains are not included. `*`: everybody whom the provider lets in.",
    default: [],
    shown: "everybody",
  }),
  oidcNewUsers: oneOf(["refuse", "create"])(oidc, "oidc_new_users", {
    about:
      "What happens when a person who is not a user signs in. `create`: they become a user with a default range and no other rights; requires oidc_domains.",
    default: "refuse",
  }),
  oidcRedirectUrls: list(oidc, "oidc_redirect_urls", {
    about:
      "Additional redirect URIs, compared exactly, for clients of the record API that request an authorization code themselves.",
    default: [],
    shown: "none",
  }),
  oidcCaFile: optionalText(oidc, "oidc_ca_file", {
    about: "PEM file of the authorities that sign the provider's certificate, instead of the public ones.",
    default: undefined,
  }),

  maxLogHistory: wholeNumber(1, 100_000)(keeping, "max_log_history", {
    about: "How many deploys, with their logs, are kept for each range, and how many runs of every other kind.",
    default: 100,
  }),
  legacyDirectory: text(keeping, "legacy_directory", {
    about:
      "Folder of a first-generation installation, with its ludus.db. POST /migrate/sqlite imports its users and ranges; the folder is only read.",
    default: "/opt/ludus",
  }),
  auditDays: wholeNumber(1, 36_500)(keeping, "audit_days", {
    about:
      "Days for which entries of the audit trail are kept. Days without entries do not count, so that a wrong clock deletes nothing.",
    default: 365,
  }),
  logLevel: oneOf(["debug", "info", "warn", "error"])(keeping, "log_level", {
    about: "Lowest level of messages that are logged.",
    default: "info",
  }),
  logFormat: oneOf(["auto", "json", "text"])(keeping, "log_format", {
    about: "`auto`: text on a terminal, else JSON.",
    default: "auto",
  }),
}

export type Keys = typeof keys
