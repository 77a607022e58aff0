// Expands `$(NAME)` in commands, arguments and values; `$$` is a dollar sign. Unknown names and unclosed parentheses stay as they
// are.

export function expandVariables(text: string, variables: Readonly<Record<string, string>>): string {
  return expand(text, (name) => variables[name]);
}

/** For paths below volumes, where every variable must have a value. Upstream: ExpandContainerVolumeMounts. */
export function expandPath(
  text: string,
  variables: Readonly<Record<string, string>>,
): { readonly path: string } | { readonly missing: readonly string[] } {
  const missing = new Set<string>();
  const path = expand(text, (name) => {
    const value = variables[name] ?? '';
    if (value === '') missing.add(name);
    return value;
  });
  return missing.size === 0 ? { path } : { missing: [...missing].sort() };
}

function expand(text: string, lookUp: (name: string) => string | undefined): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf('$'); at >= 0; at = text.indexOf('$', at)) {
    if (text.startsWith('$$', at)) {
      parts.push(text.slice(from, at), '$');
      at += 2;
      from = at;
    } else if (text.startsWith('$(', at)) {
      const end = text.indexOf(')', at);
      if (end < 0) break;
      const written = text.slice(at, end + 1);
      parts.push(text.slice(from, at), lookUp(written.slice(2, -1)) ?? written);
      at = end + 1;
      from = at;
    } else at += 1;
  }
  parts.push(text.slice(from));
  return parts.join('');
}
