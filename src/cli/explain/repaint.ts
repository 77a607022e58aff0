// A live view: at a terminal each picture takes the place of the one before, in a pipe it follows it.
import type { World } from '../../flags/command.ts';

/** Up so many lines, to the first column, and everything below erased. */
const upAndErase = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A\r\u001b[J`);

/** Returns what shows a picture. Its lines must not be wider than the terminal, nor more than it has rows. */
export function createRepaint({
  write,
  terminal,
}: Pick<World, 'write' | 'terminal'>): (text: string) => void {
  let shownLines = 0;
  let isFirst = true;
  return (text) => {
    if (terminal === undefined) write(isFirst ? text : `\n${text}`);
    else {
      // In one write, so that it does not flicker.
      write(`${upAndErase(shownLines)}${text}`);
      shownLines = text.split('\n').length - 1;
    }
    isFirst = false;
  };
}
