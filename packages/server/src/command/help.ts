/** What `--help` prints. */
export const helpText = `Rangewright: lab ranges on Proxmox VE

usage: npm start -- [command] [options]

commands:
  serve             run the service (the default)
  doctor            check the hypervisor, the token's rights, storage, templates, network, clock and disk, and say what to do
  backup FILE       write a copy of the database to FILE, while the service runs
  restore FILE      put a copy back, also while the service runs, and where the database is gone
  root-key [FILE]   give ROOT a new key, or the one in FILE, also while the service runs; the old one is void
  rotate-key [FILE] seal the secrets of the database with a new key (rotate-key --help)
  begin-anew        set aside what the data folder holds: the next start begins with an empty database
  migrate           move networks from bridges to SDN VNets and back, take an older installation over (migrate --help)
  subscription      pack a registry of subscription roles, make keys, issue licences (subscription --help)
  openapi           print the OpenAPI document as JSON and end
  docs              write the generated pages of docs/
  demo              deploy an example lab on the built-in simulator and serve it (npm run demo)
  help, version

options:
  --config FILE     configuration, YAML (else RANGEWRIGHT_CONFIG, else ./rangewright.yml when it is there)
  --once            demo: end after the deploy; exit status 0 only when it succeeded
  --speed N         demo: how many times faster than real the simulator runs (default 60)
  --port N          demo: port to serve on (default 8080, or a free one)
  --help, -h        this text

Every key of the configuration, with its environment variable, is in docs/configuration.md.
`
