// Rewrites links of a proxied page: paths from the root of the backend get the proxy's path as their prefix (upstream: apimachinery's pkg/util/proxy/transport.go).

export type ProxyLocation = {
  /** `/api/v1/namespaces/a/services/b/proxy`. */
  readonly prefix: string;
  /** Host names that mean the backend: its own address, and what the client asked for. */
  readonly hosts: readonly string[];
};

/** One pass over the page: it is untrusted, and may be made to be slow. */
export function rewriteHtml(html: string, location: ProxyLocation): string {
  const parts: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    const end = open < 0 ? -1 : endOfTag(html, open + 1);
    if (end < 0) break;
    parts.push(html.slice(at, open), rewriteTag(html.slice(open, end), location));
    at = end;
  }
  return parts.join('') + html.slice(at);
}

/** After the first `>` outside of quotes; for `<!--` and the like after the first `>`. */
function endOfTag(html: string, start: number): number {
  if (!/[a-z]/i.test(html.charAt(start))) return start;
  for (let i = start; i < html.length; i++) {
    const letter = html.charAt(i);
    if (letter === '>') return i + 1;
    if (letter !== '"' && letter !== "'") continue;
    i = html.indexOf(letter, i + 1);
    if (i < 0) return -1;
  }
  return -1;
}

/** Attributes that hold one URL. */
const attribute =
  /(\s(?:action|background|cite|classid|codebase|data|formaction|href|icon|longdesc|manifest|poster|profile|src|usemap)\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/gi;

function rewriteTag(tag: string, location: ProxyLocation): string {
  return tag.replace(attribute, (_all, name: string, value: string) => {
    const quote = /^["']/.exec(value)?.[0] ?? '';
    const url = quote === '' ? value : value.slice(1, -1);
    return `${name}${quote}${rewriteLink(url, location)}${quote}`;
  });
}

/** Links to other hosts and relative links are not changed. */
export function rewriteLink(url: string, { prefix, hosts }: ProxyLocation): string {
  const { host, path } = splitUrl(url);
  const isElsewhere = host !== undefined && !hosts.includes(host);
  if (isElsewhere || !path.startsWith('/')) return url;
  if (path === prefix || path.startsWith(`${prefix}/`)) return url;
  return `${prefix}${path}`;
}

function splitUrl(url: string): { readonly host?: string; readonly path: string } {
  const [whole, host] = /^(?:https?:)?\/\/([^/?#]*)/i.exec(url) ?? [];
  return whole === undefined || host === undefined
    ? { path: url }
    : { host, path: url.slice(whole.length) };
}
