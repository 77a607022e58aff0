// `[scheme:]name[:port]`, the target of a proxy path.

export type TargetName = {
  readonly scheme: 'http' | 'https';
  readonly name: string;
  /** A number or a name; empty when there is none. */
  readonly port: string;
};

export function parseTargetName(text: string): TargetName | undefined {
  const parts = text.split(':');
  const [scheme, name, port] =
    parts.length === 3 ? parts : ['', parts[0], parts.length === 2 ? parts[1] : ''];
  if (parts.length > 3 || name === undefined || name === '') return undefined;
  if (parts.length === 3 && scheme !== 'http' && scheme !== 'https' && scheme !== '')
    return undefined;
  return { scheme: scheme === 'https' ? 'https' : 'http', name, port: port ?? '' };
}
