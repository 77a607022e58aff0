// A terminal without a screen: the program sees the slave, whoever shows it to a person holds the master.
import { constants } from 'node:fs';
import { ReadStream } from 'node:tty';
import { closeDescriptor, loadCLibrary, type NativeFunction } from './native.ts';

export type TerminalSize = { readonly columns: number; readonly rows: number };

export type PseudoTerminal = {
  /** `/dev/pts/7`, where the one that made it was opened. */
  readonly path: string;
  /** What programs get as their input and output, until it is released. */
  readonly slave: number;
  /** Both ways: what the program writes, and what is typed. It ends when nobody has the slave open any more. */
  readonly master: ReadStream;
  /** The programs of the terminal are told by SIGWINCH. */
  readonly resize: (size: TerminalSize) => void;
  /** The slave stays open, so that the master does not end, until the program has opened it. */
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
 * Not by `openSync`: in a worker thread Node keeps a list of what that opened and nobody closed by `closeSync`, warns when the number comes
 * again, and closes it at the end of the thread, whoever has it by then. The master is closed by its stream, so its number never stands there.
 */
function openTerminals(): number {
  declaredOpen ??= loadCLibrary().checked('int open(const char *path, int flags)');
  return declaredOpen('/dev/ptmx', flags | closeOnExec);
}

/**
 * `open` opens the device that makes terminals, which may be that of a container, by the C library. Throws NativeUnavailableError or SystemCallError where there
 * are no terminals to be had.
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
    // By the master, not by a path: another file system may stand there.
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
  let isHeld = true;
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
      if (!isHeld) return;
      isHeld = false;
      closeDescriptor(slave);
    },
  };
}
