// Links of a page that a proxy shows: what starts at the root of the backend starts below the proxy's path for the
// browser (upstream: apimachinery's pkg/util/proxy/transport.go).

export type LinkPlace = {
  /** `/api/v1/namespaces/a/services/b/proxy`. */
  readonly prefix: string;
  /** Host names that mean the backend: its own address, and what the client asked for. */
  readonly hosts: readonly string[];
};

/** Reads the page once from start to end: it comes from a stranger, and may be made to be slow. */
export function rewriteHtml(html: string, place: LinkPlace): string {
  const parts: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    const end = open < 0 ? -1 : endOfTag(html, open + 1);
    if (end < 0) break;
    parts.push(html.slice(at, open), rewriteTag(html.slice(open, end), place));
    at = end;
  }
  return parts.join('') + html.slice(at);
}

/** After the `>` that is in no quotes; after `<!--` and the like the first `>` will do. */
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

function rewriteTag(tag: string, place: LinkPlace): string {
  return tag.replace(attribute, (_all, name: string, value: string) => {
    const quote = /^["']/.exec(value)?.[0] ?? '';
    const url = quote === '' ? value : value.slice(1, -1);
    return `${name}${quote}${rewriteLink(url, place)}${quote}`;
  });
}

/** Links to other hosts and relative ones stay as they are. */
export function rewriteLink(url: string, { prefix, hosts }: LinkPlace): string {
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
