// What the documents list must be what the code has. With FAIRLEAD_UPDATE_DOCS=1 the lists are written anew.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import type { Command } from 'commander';
import { describeFlag } from '../../src/cli/describe-flag.ts';
import { createProgram } from '../../src/cli/main.ts';
import { allKinds } from '../../src/kinds/all.ts';
import { groupVersion } from '../../src/meta/object.ts';
import { silentWorld } from '../lanes/silent-world.ts';
import { compareDocument } from './compare-document.ts';

test('docs/reference/command-line.md lists the commands and flags there are', async () => {
  const program = await createProgram(silentWorld);
  const commands = program.commands.map((c) => describeCommand(c, ['fairlead']));
  compareDocument('docs/reference/command-line.md', `# Command line\n\n${commands.join('\n')}`);
});

test('docs/reference/kinds.md lists the kinds there are', () => {
  const rows = allKinds.map((kind) => {
    const subresources = (kind.subresources ?? []).map((s) => s.name).join(', ');
    const scope = kind.namespaced ? 'namespace' : 'cluster';
    return `| ${kind.kind} | ${groupVersion(kind.group, kind.version)} | ${kind.plural} | ${(kind.shortNames ?? []).join(', ')} | ${scope} | ${subresources} |`;
  });
  const head =
    '| kind | version | resource | short | scope | subresources |\n| --- | --- | --- | --- | --- | --- |';
  compareDocument('docs/reference/kinds.md', `# Kinds\n\n${head}\n${rows.join('\n')}\n`);
});

test('links between documents lead somewhere', () => {
  const documents = readdirSync('.', { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.md') && !/^(node_modules|dist|test\/conformance)\//.test(file),
  );
  const broken = documents.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
      .map((match) => match[1] ?? '')
      .filter((target) => !existsSync(join(dirname(file), target)))
      .map((target) => `${file}: ${target}`),
  );
  assert.deepEqual(broken, []);
});

test('files of the source that documents name exist', () => {
  const documents = readdirSync('.', { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      file.endsWith('.md') && !/^(node_modules|dist|test\/conformance|CHANGELOG)/.test(file),
  );
  const missing = documents.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/`((?:src|test|scripts|docs|examples)\/[\w./-]+)`/g)]
      .map((match) => match[1] ?? '')
      .filter((path) => !existsSync(path))
      .map((path) => `${file}: ${path}`),
  );
  assert.deepEqual(missing, []);
});

/** `parents` are the words that stand before its name. */
function describeCommand(command: Command, parents: readonly string[]): string {
  const words = command.registeredArguments.map((a) => {
    const name = `${a.name()}${a.variadic ? '...' : ''}`;
    return a.required ? `<${name}>` : `[${name}]`;
  });
  const names = [...parents, command.name()];
  const flags = command.options.map(
    (o) => `| \`${o.flags}\` | ${describeFlag(o).replaceAll('|', '\\|')} |`,
  );
  const table = flags.length === 0 ? [] : ['', '| flag | meaning |', '| --- | --- |', ...flags];
  return [
    `## \`${[...names, ...words].join(' ')}\``,
    '',
    `${command.description()}.`,
    ...table,
    ...command.commands.map((c) => `\n${describeCommand(c, names)}`),
    '',
  ].join('\n');
}

test('files that READMEs of the source name exist: beside them, below them, or in src', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' });
  const readmes = sources.filter((file) => basename(file) === 'README.md');
  const missing = readmes.flatMap((readme) => {
    const folder = dirname(readme);
    const named = [...readFileSync(join('src', readme), 'utf8').matchAll(/`([\w./-]+\.ts)`/g)];
    return named
      .map(([, name = '']) => name)
      .filter((name) => {
        if (sources.includes(normalize(join(folder, name))) || sources.includes(name)) return false;
        if (existsSync(name)) return false;
        return !sources.some((file) => file.startsWith(`${folder}/`) && file.endsWith(`/${name}`));
      })
      .map((name) => `src/${readme}: ${name}`);
  });
  assert.deepEqual(missing, []);
});
