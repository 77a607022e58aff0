// Numbers of the DNS protocol by name.

export const types = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  NAPTR: 35,
  DS: 43,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  OPT: 41,
  SVCB: 64,
  HTTPS: 65,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
} as const;

export const classInternet = 1;

export const rcodes = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  BADVERS: 16,
} as const;

/** Bits of the flags word of the header. */
export const flags = {
  response: 0x8000,
  opcodeMask: 0x7800,
  authoritative: 0x0400,
  truncated: 0x0200,
  recursionDesired: 0x0100,
  recursionAvailable: 0x0080,
  authenticData: 0x0020,
  checkingDisabled: 0x0010,
  rcodeMask: 0x000f,
} as const;

/** The DO bit, in the low half of an OPT record's TTL. */
export const dnssecOkBit = 0x8000;

export const headerSize = 12;
/** The UDP size without EDNS (RFC 1035). */
export const minUdpSize = 512;
/** The length prefix over TCP has 16 bits. */
export const maxMessageSize = 65_535;

const nameByType = new Map<number, string>(
  Object.entries(types).map(([name, number]) => [number, name]),
);
const nameByRcode = new Map<number, string>(
  Object.entries(rcodes).map(([name, number]) => [number, name]),
);

export function typeName(type: number): string {
  return nameByType.get(type) ?? `TYPE${type}`;
}

export function rcodeName(rcode: number): string {
  return nameByRcode.get(rcode) ?? String(rcode);
}
