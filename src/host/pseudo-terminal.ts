// Pseudo-terminals: the program has the slave, and the client's terminal is connected to the master.
import { constants } from 'node:fs';
import { ReadStream } from 'node:tty';
import { closeDescriptor, loadCLibrary, type NativeFunction } from './native.ts';

export type TerminalSize = { readonly columns: number; readonly rows: number };

export type PseudoTerminal = {
  /** `/dev/pts/7`, in the file system of the device that made it. */
  readonly path: string;
  /** Standard input and output of the program; valid until `release`. */
  readonly slave: number;
  /** Reads what the program writes, writes what is typed. Fails with EIO when no process has the slave open any more. */
  readonly master: ReadStream;
  /** The kernel sends SIGWINCH to the programs of the terminal. */
  readonly resize: (size: TerminalSize) => void;
  /** Closes the slave. Call it after the program has opened it: without an open slave the master ends. */
  readonly release: () => void;
};

// asm-generic/ioctls.h, which x86 and ARM use.
const setLock = 0x40045431;
const getNumber = 0x80045430;
const setWindowSize = 0x5414;
const getPeer = 0x5441;

let declared: NativeFunction | undefined;
let declaredPeer: NativeFunction | undefined;
let declaredOpen: NativeFunction | undefined;

const flags = constants.O_RDWR | constants.O_NOCTTY;
const closeOnExec = 0o2000000;

/**
 * Not by `openSync`: in a worker thread Node tracks the descriptors that `openSync` opened until `closeSync` closes them, warns when a
 * number is reused, and closes what is left at the end of the thread, by number. The master is closed by its stream, not by `closeSync`.
 */
function openTerminals(): number {
  declaredOpen ??= loadCLibrary().checked('int open(const char *path, int flags)');
  return declaredOpen('/dev/ptmx', flags | closeOnExec);
}

/**
 * `open` opens the multiplexer (/dev/ptmx), which may be that of a container, by the C library. Throws NativeUnavailableError or
 * SystemCallError where there are no pseudo-terminals.
 */
export function openPseudoTerminal(open: () => number = openTerminals): PseudoTerminal {
  declared ??= loadCLibrary().checked('int ioctl(int fd, unsigned long request, void *argument)');
  declaredPeer ??= loadCLibrary().checked('int ioctl(int fd, unsigned long request, int argument)');
  const control = declared;
  const fd = open();
  let slave: number | undefined;
  let path = '';
  try {
    const number = Buffer.alloc(4);
    control(fd, setLock, number);
    control(fd, getNumber, number);
    path = `/dev/pts/${number.readUInt32LE(0)}`;
    // By the master, not by its path, where another file system may be mounted.
    slave = declaredPeer(fd, getPeer, flags | closeOnExec);
    return openedTerminal({ fd, slave, path, control }, new ReadStream(fd));
  } catch (error) {
    if (slave !== undefined) closeDescriptor(slave);
    closeDescriptor(fd);
    throw error;
  }
}

type Opened = {
  readonly fd: number;
  readonly slave: number;
  readonly path: string;
  readonly control: NativeFunction;
};

/** From here on the master belongs to its stream, which closes it. */
function openedTerminal({ fd, slave, path, control }: Opened, master: ReadStream): PseudoTerminal {
  let isSlaveOpen = true;
  return {
    path,
    slave,
    master,
    resize({ columns, rows }) {
      if (master.destroyed) return;
      const size = Buffer.alloc(8);
      size.writeUInt16LE(rows & 0xffff, 0);
      size.writeUInt16LE(columns & 0xffff, 2);
      control(fd, setWindowSize, size);
    },
    release() {
      if (!isSlaveOpen) return;
      isSlaveOpen = false;
      closeDescriptor(slave);
    },
  };
}
