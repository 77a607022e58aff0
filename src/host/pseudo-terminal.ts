// A terminal without a screen: the program sees the slave, whoever shows it to a person holds the master.
import { closeSync, constants, openSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { loadCLibrary, type NativeFunction } from './native.ts';

export type TerminalSize = { readonly columns: number; readonly rows: number };

export type PseudoTerminal = {
  /** `/dev/pts/7`: a process that leads its session and opens it gets it as its terminal. */
  readonly path: string;
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

let declared: NativeFunction | undefined;

/** Throws NativeUnavailableError or SystemCallError where there are no terminals to be had. */
export function openPseudoTerminal(): PseudoTerminal {
  declared ??= loadCLibrary().checked('int ioctl(int fd, unsigned long request, void *argument)');
  const control = declared;
  const flags = constants.O_RDWR | constants.O_NOCTTY;
  const fd = openSync('/dev/ptmx', flags);
  let slave = -1;
  let path = '';
  try {
    const number = Buffer.alloc(4);
    control(fd, setLock, number);
    control(fd, getNumber, number);
    path = `/dev/pts/${number.readUInt32LE(0)}`;
    slave = openSync(path, flags);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  const master = new ReadStream(fd);
  let isHeld = true;
  return {
    path,
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
      closeSync(slave);
    },
  };
}
