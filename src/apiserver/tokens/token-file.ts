// The list of bearer tokens of --token-auth-file, in Kubernetes' form: token,user,uid,"group1,group2".
import { createHash } from 'node:crypto';
import type { User } from '../access/user.ts';
import { parseCsv } from './csv.ts';

export type TokenList = {
  readonly userOf: (token: string) => User | undefined;
  readonly size: number;
};

export type ReadTokenFile = { readonly list: TokenList } | { readonly problems: readonly string[] };

/** Problems name lines and never what stands there: they end up in logs. */
export function readTokenFile(text: string): ReadTokenFile {
  const parsed = parseCsv(text);
  if ('error' in parsed) return { problems: [parsed.error] };
  const users = new Map<string, User>();
  const problems: string[] = [];
  for (const { line, fields } of parsed.records) {
    const [token = '', name = '', uid = '', groups = ''] = fields;
    const key = digest(token);
    const problem = problemOf(fields, users.has(key));
    if (problem !== undefined) problems.push(`line ${line}: ${problem}`);
    users.set(key, {
      name,
      ...(uid === '' ? {} : { uid }),
      groups: groups === '' ? [] : groups.split(','),
    });
  }
  if (problems.length > 0) return { problems };
  return { list: { userOf: (token) => users.get(digest(token)), size: users.size } };
}

function problemOf(fields: readonly string[], isKnown: boolean): string | undefined {
  const [token, name] = fields;
  if (fields.length < 3) {
    return `must have at least 3 columns (token, user name, user uid), found ${fields.length}`;
  }
  if (token === '') return 'the token is empty';
  if (name === '') return 'the user name is empty';
  return isKnown ? 'the token is in the file already' : undefined;
}

/** Looked up by its digest, so that the time it takes says nothing about tokens that are almost right. */
function digest(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}

/** One line for the file. */
export function tokenLine(token: string, { name, uid = '', groups }: User): string {
  const cells = [token, name, uid, ...(groups.length === 0 ? [] : [groups.join(',')])];
  return `${cells.map(cell).join(',')}\n`;
}

function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
