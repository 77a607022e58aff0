// The kernel's load balancer, IPVS, as `ipvsadm` shows it: virtual services and their destinations.
import {
  addressBytes,
  addressText,
  familyNumber,
  familyOfNumber,
  familyOfText,
} from './address-bytes.ts';
import type { AttributeWriter } from './attributes.ts';
import { type GenericFamily, openGenericFamily } from './generic.ts';
import type { NetlinkOptions } from './netlink.ts';
import {
  type Attributes,
  be16In,
  nestedIn,
  textIn,
  u16In,
  u32In,
  viewOf,
} from './read-attributes.ts';
import { readUntilNothingNew } from './read-until-nothing-new.ts';

export type IpvsProtocol = 'TCP' | 'UDP' | 'SCTP';

/** The key of a virtual service. */
export type VirtualServiceKey = {
  readonly address: string;
  readonly protocol: IpvsProtocol;
  readonly port: number;
};

export type VirtualService = VirtualServiceKey & {
  /** `rr`, `wrr`, `lc` and so on; the kernel needs the module `ip_vs_<scheduler>`. */
  readonly scheduler: string;
  /** A client keeps its destination so long after its last connection; without it each connection is scheduled anew. */
  readonly persistenceSeconds?: number;
  /** For `sh` and `mh`: the client's port is part of what is hashed. */
  readonly hashesSourcePort?: true;
};

/** Connections are translated (`masquerade` in IPVS's words), so that a destination needs no set-up. */
export type Destination = {
  readonly address: string;
  readonly port: number;
  /** 0: no new connections, while those there are go on. */
  readonly weight: number;
};

export type ListedDestination = Destination & {
  readonly activeConnections: number;
  readonly inactiveConnections: number;
};

/** 0 leaves a timeout as it is. */
export type IpvsTimeouts = {
  readonly tcpSeconds: number;
  readonly tcpFinSeconds: number;
  readonly udpSeconds: number;
};

/** Adding throws code EEXIST, changing and deleting what is not there ESRCH or ENOENT. */
export type Ipvs = {
  /** Throws code EINTR when they keep changing. */
  readonly listServices: () => Promise<VirtualService[]>;
  readonly addService: (service: VirtualService) => Promise<void>;
  readonly changeService: (service: VirtualService) => Promise<void>;
  readonly deleteService: (service: VirtualServiceKey) => Promise<void>;
  readonly listDestinations: (service: VirtualServiceKey) => Promise<ListedDestination[]>;
  readonly addDestination: (service: VirtualServiceKey, destination: Destination) => Promise<void>;
  readonly changeDestination: (
    service: VirtualServiceKey,
    destination: Destination,
  ) => Promise<void>;
  readonly deleteDestination: (
    service: VirtualServiceKey,
    destination: Pick<Destination, 'address' | 'port'>,
  ) => Promise<void>;
  readonly readTimeouts: () => Promise<IpvsTimeouts>;
  readonly setTimeouts: (timeouts: IpvsTimeouts) => Promise<void>;
  readonly close: () => Promise<void>;
};

const protocolNumber = { TCP: 6, UDP: 17, SCTP: 132 } as const;
const command = {
  newService: 1,
  setService: 2,
  deleteService: 3,
  getService: 4,
  newDestination: 5,
  setDestination: 6,
  deleteDestination: 7,
  getDestination: 8,
  setConfig: 12,
  getConfig: 13,
} as const;
const attribute = { service: 1, destination: 2, tcp: 4, tcpFin: 5, udp: 6 } as const;
const serviceAttribute = {
  family: 1,
  protocol: 2,
  address: 3,
  port: 4,
  scheduler: 6,
  flags: 7,
  timeout: 8,
  netmask: 9,
} as const;
const serviceFlag = { persistent: 0x1, hashesSourcePort: 0x10 } as const;
const destinationAttribute = {
  address: 1,
  port: 2,
  forwarding: 3,
  weight: 4,
  upperThreshold: 5,
  lowerThreshold: 6,
  active: 7,
  inactive: 8,
  family: 11,
} as const;
const forwardByTranslation = 0;

/** Throws with code ENOENT when the kernel has no IPVS. */
export async function openIpvs(options: Omit<NetlinkOptions, 'protocol'> = {}): Promise<Ipvs> {
  const family = await openGenericFamily('IPVS', 1, options);
  return { ...services(family), ...destinations(family), ...timeouts(family), close: family.close };
}

function services(
  family: GenericFamily,
): Pick<Ipvs, 'listServices' | 'addService' | 'changeService' | 'deleteService'> {
  const send = async (verb: string, number: number, service: VirtualService): Promise<void> => {
    await family.request({
      doing: `${verb} virtual service ${serviceText(service)}`,
      command: number,
      write: (writer) => writer.nested(attribute.service, () => writeService(writer, service)),
    });
  };
  return {
    addService: (service) => send('add', command.newService, service),
    changeService: (service) => send('change', command.setService, service),
    deleteService: async (service) => {
      await family.request({
        doing: `delete virtual service ${serviceText(service)}`,
        command: command.deleteService,
        write: (writer) => writeServiceKey(writer, service),
      });
    },
    listServices: () => {
      const doing = 'list virtual services';
      // Older kernels count those of other network namespaces when they go on after a page: a change there leaves some of ours out.
      return readUntilNothingNew(async () => {
        const entries = await family.dump({ doing, command: command.getService });
        return entries.flatMap((entry) => decodeService(nestedIn(entry, attribute.service)) ?? []);
      }, serviceText);
    },
  };
}

function destinations(
  family: GenericFamily,
): Pick<Ipvs, 'listDestinations' | 'addDestination' | 'changeDestination' | 'deleteDestination'> {
  const send = async (
    verb: string,
    number: number,
    { service, destination }: { service: VirtualServiceKey; destination: Destination },
  ): Promise<void> => {
    await family.request({
      doing: `${verb} destination ${socketText(destination)} of ${serviceText(service)}`,
      command: number,
      write: (writer) => {
        writeServiceKey(writer, service);
        writer.nested(attribute.destination, () => writeDestination(writer, destination));
      },
    });
  };
  return {
    addDestination: (service, destination) =>
      send('add', command.newDestination, { service, destination }),
    changeDestination: (service, destination) =>
      send('change', command.setDestination, { service, destination }),
    deleteDestination: (service, { address, port }) =>
      send('delete', command.deleteDestination, {
        service,
        destination: { address, port, weight: 0 },
      }),
    listDestinations: async (service) => {
      const listed = await family.dump({
        doing: `list destinations of ${serviceText(service)}`,
        command: command.getDestination,
        write: (writer) => writeServiceKey(writer, service),
      });
      return listed.map((entry) => decodeDestination(nestedIn(entry, attribute.destination)));
    },
  };
}

function timeouts(family: GenericFamily): Pick<Ipvs, 'readTimeouts' | 'setTimeouts'> {
  return {
    readTimeouts: async () => {
      const [config = new Map<number, Uint8Array>()] = await family.request({
        doing: 'read IPVS timeouts',
        command: command.getConfig,
      });
      return {
        tcpSeconds: u32In(config, attribute.tcp) ?? 0,
        tcpFinSeconds: u32In(config, attribute.tcpFin) ?? 0,
        udpSeconds: u32In(config, attribute.udp) ?? 0,
      };
    },
    setTimeouts: async ({ tcpSeconds, tcpFinSeconds, udpSeconds }) => {
      await family.request({
        doing: 'set IPVS timeouts',
        command: command.setConfig,
        write: (writer) => {
          writer.attributeU32(attribute.tcp, tcpSeconds);
          writer.attributeU32(attribute.tcpFin, tcpFinSeconds);
          writer.attributeU32(attribute.udp, udpSeconds);
        },
      });
    },
  };
}

function writeServiceKey(writer: AttributeWriter, service: VirtualServiceKey): void {
  writer.nested(attribute.service, () => writeKey(writer, service));
}

function writeKey(writer: AttributeWriter, { address, protocol, port }: VirtualServiceKey): void {
  writer.attributeU16(serviceAttribute.family, familyNumber[familyOfText(address)]);
  writer.attributeU16(serviceAttribute.protocol, protocolNumber[protocol]);
  writer.attribute(serviceAttribute.address, wideAddress(address));
  writer.attributeBe16(serviceAttribute.port, port);
}

function writeService(writer: AttributeWriter, service: VirtualService): void {
  const { persistenceSeconds, hashesSourcePort } = service;
  writeKey(writer, service);
  writer.attributeText(serviceAttribute.scheduler, service.scheduler);
  const flags =
    (persistenceSeconds === undefined ? 0 : serviceFlag.persistent) |
    (hashesSourcePort ? serviceFlag.hashesSourcePort : 0);
  writer.attributeOf(serviceAttribute.flags, () => {
    writer.u32(flags);
    // The mask: all of them are given, also those that are off.
    writer.u32(0xffffffff);
  });
  writer.attributeU32(serviceAttribute.timeout, persistenceSeconds ?? 0);
  // Every client for itself: the whole IPv4 address as a mask, an IPv6 address's length as a number.
  const netmask = familyOfText(service.address) === 'IPv4' ? 0xffffffff : 128;
  writer.attributeU32(serviceAttribute.netmask, netmask);
}

function writeDestination(writer: AttributeWriter, { address, port, weight }: Destination): void {
  writer.attribute(destinationAttribute.address, wideAddress(address));
  writer.attributeBe16(destinationAttribute.port, port);
  writer.attributeU16(destinationAttribute.family, familyNumber[familyOfText(address)]);
  writer.attributeU32(destinationAttribute.forwarding, forwardByTranslation);
  writer.attributeU32(destinationAttribute.weight, weight);
  writer.attributeU32(destinationAttribute.upperThreshold, 0);
  writer.attributeU32(destinationAttribute.lowerThreshold, 0);
}

/** IPVS has room for an IPv6 address everywhere. */
function wideAddress(address: string): Uint8Array {
  const bytes = new Uint8Array(16);
  bytes.set(addressBytes(address));
  return bytes;
}

/** Undefined for services of other kinds (by firewall mark): not ours. */
function decodeService(attributes: Attributes): VirtualService | undefined {
  const protocol = protocolOf(u16In(attributes, serviceAttribute.protocol));
  const address = attributes.get(serviceAttribute.address);
  if (protocol === undefined || address === undefined) return undefined;
  const flagBytes = attributes.get(serviceAttribute.flags);
  const flags = flagBytes === undefined ? 0 : viewOf(flagBytes).getUint32(0, true);
  return {
    address: narrowAddress(address, u16In(attributes, serviceAttribute.family)),
    protocol,
    port: be16In(attributes, serviceAttribute.port) ?? 0,
    scheduler: textIn(attributes, serviceAttribute.scheduler) ?? '',
    ...(flags & serviceFlag.persistent
      ? { persistenceSeconds: u32In(attributes, serviceAttribute.timeout) ?? 0 }
      : {}),
    ...(flags & serviceFlag.hashesSourcePort ? { hashesSourcePort: true } : {}),
  };
}

function decodeDestination(attributes: Attributes): ListedDestination {
  const address = attributes.get(destinationAttribute.address) ?? new Uint8Array(16);
  return {
    address: narrowAddress(address, u16In(attributes, destinationAttribute.family)),
    port: be16In(attributes, destinationAttribute.port) ?? 0,
    weight: u32In(attributes, destinationAttribute.weight) ?? 0,
    activeConnections: u32In(attributes, destinationAttribute.active) ?? 0,
    inactiveConnections: u32In(attributes, destinationAttribute.inactive) ?? 0,
  };
}

function narrowAddress(bytes: Uint8Array, family: number | undefined): string {
  const isIPv6 = family !== undefined && familyOfNumber(family) === 'IPv6';
  return addressText(isIPv6 ? bytes : bytes.subarray(0, 4));
}

function protocolOf(number: number | undefined): IpvsProtocol | undefined {
  return ipvsProtocols.find((protocol) => protocolNumber[protocol] === number);
}

const ipvsProtocols: readonly IpvsProtocol[] = ['TCP', 'UDP', 'SCTP'];

function serviceText(service: VirtualServiceKey): string {
  return `${service.protocol} ${socketText(service)}`;
}

function socketText({ address, port }: Pick<Destination, 'address' | 'port'>): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
