// The command lines that documents print.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './running-server.ts';

/** Programs whose lines in a block make it a block of commands. */
const program =
  /^(?:sudo |[A-Z_]+="?\S+"? |echo \S+ \| |\(umask \d+; )*(?:dir=|(?:npm|fairlead|bin\/fairlead|kubectl|curl|nft|iptables-save|ipvsadm|systemctl|export|etcdctl|tar|mv|cp|ln|chmod|mkdir|grep|while|kill|echo)\b(?! ─))/;

/** Everything that people follow; not the reference, which is made of the program itself. */
export function documents(): readonly string[] {
  const listed = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' });
  const generated = /^(?:docs\/(?:reference|behaviour)|test\/conformance)/;
  return listed.split('\n').filter((file) => file !== '' && !generated.test(file));
}

/** The commands in the blocks of a document, in order, without the comments behind them. */
export function printedCommands(document: string): readonly string[] {
  const text = readFileSync(join(root, document), 'utf8').replaceAll(/\\\n\s*/g, '');
  let isFenced = false;
  const commands: string[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) isFenced = !isFenced;
    else if (isFenced || line.startsWith('    ')) {
      const command = line.trim().replace(/\s{2,}#.*$/, '');
      if (program.test(command)) commands.push(command);
    }
  }
  return commands;
}

/** Command lines of our own program, in blocks and between backquotes, as words. */
export function fairleadCommandLines(document: string): readonly (readonly string[])[] {
  const text = readFileSync(join(root, document), 'utf8');
  const inline = [...text.matchAll(/`((?:bin\/)?fairlead [a-z][^`\n]*)`/g)].map((m) => m[1] ?? '');
  const blocks = printedCommands(document).flatMap((command) => {
    const found = /(?:^|[\s|;])((?:bin\/)?fairlead [a-z].*)$/.exec(command)?.[1];
    return found === undefined ? [] : [found];
  });
  return [...inline, ...blocks].map(wordsOf);
}

/** As a shell splits them, up to the first pipe, redirection or `&`; what is left out (…) is left out. */
function wordsOf(command: string): readonly string[] {
  const words = command.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  const end = words.findIndex((word) => /^(?:[|&;]|\d?>)/.test(word));
  return words
    .slice(1, end === -1 ? undefined : end)
    .map((word) => word.replaceAll(/["']/g, ''))
    .filter((word) => word !== '…' && word !== '...');
}
