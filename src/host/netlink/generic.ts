// Generic netlink: families of messages whose numbers the kernel gives out at run time, by name.
import type { AttributeWriter } from './attributes.ts';
import type { NetlinkMessage } from './messages.ts';
import { type Netlink, type NetlinkOptions, openNetlink } from './netlink.ts';
import { type Attributes, readAttributes, u16In } from './read-attributes.ts';

export type GenericRequest = {
  readonly doing: string;
  readonly command: number;
  readonly flags?: number;
  readonly write?: (writer: AttributeWriter) => void;
};

export type GenericFamily = {
  readonly request: (request: GenericRequest) => Promise<readonly Attributes[]>;
  readonly dump: (request: GenericRequest) => Promise<readonly Attributes[]>;
  readonly close: () => Promise<void>;
};

const controlFamily = 16;
const controlCommand = { getFamily: 3 } as const;
const controlAttribute = { familyId: 1, familyName: 2 } as const;
const headerBytes = 4;

/** Throws with code ENOENT when the kernel has no such family and no module for it. */
export async function openGenericFamily(
  name: string,
  version: number,
  options: Omit<NetlinkOptions, 'protocol'> = {},
): Promise<GenericFamily> {
  const netlink = await openNetlink({ ...options, protocol: 'generic' });
  try {
    const type = await findFamily(netlink, name);
    return {
      request: async (request) => decode(await netlink.request(encode(request, type, version))),
      dump: async (request) => decode(await netlink.dump(encode(request, type, version))),
      close: netlink.close,
    };
  } catch (error) {
    await netlink.close();
    throw error;
  }
}

async function findFamily(netlink: Netlink, name: string): Promise<number> {
  const write = (writer: AttributeWriter): void =>
    writer.attributeText(controlAttribute.familyName, name);
  const request = {
    doing: `find the kernel's family "${name}"`,
    command: controlCommand.getFamily,
    write,
  };
  const [attributes] = decode(await netlink.request(encode(request, controlFamily, 1)));
  const id = attributes && u16In(attributes, controlAttribute.familyId);
  if (id === undefined) throw new Error(`The kernel did not number its family "${name}"`);
  return id;
}

function encode(
  { doing, command, flags = 0, write }: GenericRequest,
  type: number,
  version: number,
) {
  return {
    doing,
    type,
    flags,
    write: (writer: AttributeWriter) => {
      writer.u8(command);
      writer.u8(version);
      writer.u16(0);
      write?.(writer);
    },
  };
}

function decode(messages: readonly NetlinkMessage[]): Attributes[] {
  return messages.map(({ payload }) => readAttributes(payload.subarray(headerBytes)));
}
