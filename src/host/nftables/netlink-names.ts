// Numbers of nf_tables' netlink messages and attributes (`include/uapi/linux/netfilter/nf_tables.h`).

export const nftMessage = {
  newTable: 0,
  getTable: 1,
  deleteTable: 2,
  newChain: 3,
  getChain: 4,
  deleteChain: 5,
  newRule: 6,
  getRule: 7,
  deleteRule: 8,
  newSet: 9,
  getSet: 10,
  deleteSet: 11,
  newElements: 12,
  getElements: 13,
  deleteElements: 14,
  getGeneration: 16,
} as const;

export const tableAttribute = { name: 1 } as const;

export const chainAttribute = { table: 1, name: 3, hook: 4, policy: 5, type: 7 } as const;
export const hookAttribute = { number: 1, priority: 2 } as const;
export const hookNumber = {
  prerouting: 0,
  input: 1,
  forward: 2,
  output: 3,
  postrouting: 4,
} as const;
export const policyAccept = 1;

export const ruleAttribute = {
  table: 1,
  chain: 2,
  handle: 3,
  expressions: 4,
  userdata: 7,
} as const;

export const setAttribute = {
  table: 1,
  name: 2,
  flags: 3,
  keyType: 4,
  keyLength: 5,
  dataType: 6,
  dataLength: 7,
  description: 9,
  id: 10,
  userdata: 13,
} as const;
export const setFlag = {
  constant: 0x2,
  interval: 0x4,
  map: 0x8,
  timeout: 0x10,
  dynamic: 0x20,
  concatenation: 0x80,
} as const;
export const setDescription = { size: 1, concatenation: 2 } as const;
export const fieldLengthAttribute = 1;
/** Where a map's data type would stand, when its data are verdicts. */
export const dataTypeVerdict = 0xffffff00;

export const elementsAttribute = { table: 1, set: 2, elements: 3 } as const;
export const elementAttribute = {
  key: 1,
  data: 2,
  flags: 3,
  userdata: 6,
  keyEnd: 10,
} as const;
export const elementFlag = { intervalEnd: 1 } as const;

export const listEntry = 1;
export const generationAttribute = { id: 1 } as const;
