/**
 * Product keys that make an installation a client of a KMS host, by edition. They activate nothing by themselves and are not secret:
 * Microsoft publishes them at https://learn.microsoft.com/windows-server/get-started/kms-client-activation-keys (as of June 2025).
 */
const ofClients: Readonly<Record<string, string>> = {
  Professional: "W269N-WFGWX-YVC9B-4J6C9-T83GX",
  ProfessionalN: "MH37W-N47XK-V7XM9-C7227-GCQG9",
  ProfessionalWorkstation: "NRG8B-VKK3Q-CXVCJ-9G2XF-6Q84J",
  ProfessionalWorkstationN: "9FNHH-K3HBT-3W4TD-6383H-6XYWF",
  ProfessionalEducation: "6TP4R-GNPTD-KYYHQ-7B7DP-J447Y",
  ProfessionalEducationN: "YVWGF-BXNMC-HTQYQ-CPQ99-66QFC",
  Education: "NW6C2-QMPVW-D7KKK-3GKT6-VCFB2",
  EducationN: "2WH4N-8QGBV-H22JP-CT43Q-MDWWJ",
  Enterprise: "NPPR9-FWDCX-D2C8J-H872K-2YT43",
  EnterpriseN: "DPH2V-TTNVB-4X9Q3-TJR4H-KHJW4",
  EnterpriseG: "YYVX9-NTFWV-6MDM3-9PT4T-4M68B",
  EnterpriseGN: "44RPN-FTY23-9VTTB-MP9BX-T84FV",
}

/** For editions whose key depends on the version: the first build for each key, newest first. */
const byBuild: Readonly<Record<string, readonly (readonly [build: number, key: string])[]>> = {
  EnterpriseS: [
    [17_763, "M7XTQ-FN8P6-TTKYV-9D4CC-J462D"],
    [14_393, "DCPHK-NFMTC-H88MJ-PFHPY-QJ4BJ"],
  ],
  EnterpriseSN: [
    [17_763, "92NFX-8DJQP-P6BBQ-THF9C-7CG2H"],
    [14_393, "QFFDN-GRT3P-VKWWX-X7T3R-8B639"],
  ],
  ServerStandard: [
    [26_100, "TVRH6-WHNXV-R9WG3-9XRFY-MY832"],
    [20_348, "VDYBN-27WPP-V4HQT-9VMD4-VMK7H"],
    [17_763, "N69G4-B89J2-4G8F4-WWYCC-J464C"],
    [14_393, "WC2BQ-8NRM3-FDDYY-2BFGV-KHKQY"],
    [9600, "D2N9P-3P6X9-2R39C-7RTCD-MDVJX"],
  ],
  ServerDatacenter: [
    [26_100, "D764K-2NDRG-47T6Q-P8T8W-YP6DF"],
    [20_348, "WX4NM-KYWYW-QJJR4-XV3QB-6VM33"],
    [17_763, "WMDGN-G9PQG-XVVXX-R3X43-63DFG"],
    [14_393, "CB7KF-BWN84-R7R2Y-793K2-8XDDG"],
    [9600, "W3GGN-FT8W3-Y4M27-J84CP-Q3VJ9"],
  ],
  ServerTurbine: [
    [26_100, "XGN3F-F394H-FD2MY-PP6FD-8MCRC"],
    [20_348, "NTBV8-9K7Q8-V27C6-M2BTV-KHMXV"],
  ],
  ServerSolution: [
    [17_763, "WVDHN-86M7X-466P6-VHXV7-YY726"],
    [14_393, "JCKRF-N37P4-C2D82-9YXRT-4M63B"],
  ],
}

/** Server versions between two long-term releases have their own keys, which are out of support. */
const longTermServers: ReadonlySet<number> = new Set([9600, 14_393, 17_763, 20_348, 26_100])

/** The key of an edition (`EditionID` of Windows) in a build; undefined if Microsoft publishes none, or it is unknown here. */
export const clientKeyFor = (edition: string, build: number): string | undefined => {
  if (Object.hasOwn(ofClients, edition)) return build >= 10_240 ? ofClients[edition] : undefined
  if (edition.startsWith("Server") && !longTermServers.has(build)) return undefined
  const keys = Object.hasOwn(byBuild, edition) ? byBuild[edition] : undefined
  return keys?.find(([first]) => build >= first)?.[1]
}
