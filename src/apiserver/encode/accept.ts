// Parses the Accept header as Kubernetes does.

export type AcceptClause = {
  readonly type: string;
  readonly subtype: string;
  /** Parameters other than q, trimmed. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
};

/** The clauses by preference: quality first, then the more exact type, then the order written. */
export function parseAccept(header: string): readonly AcceptClause[] {
  const clauses: AcceptClause[] = [];
  for (const part of header.split(',')) {
    const clause = parseClause(part);
    if (clause === undefined) continue;
    let at = clauses.length;
    while (at > 0 && comesBefore(clause, clauses[at - 1])) at -= 1;
    clauses.splice(at, 0, clause);
  }
  return clauses;
}

/** Whether the clause takes this media type, by name or by wildcard. */
export function acceptsMediaType(clause: AcceptClause, type: string, subtype: string): boolean {
  if (clause.type === '*') return clause.subtype === '*';
  return clause.type === type && (clause.subtype === subtype || clause.subtype === '*');
}

function parseClause(text: string): AcceptClause | undefined {
  const [range = '', ...rest] = text.split(';').map((part) => part.trim());
  const types = range === '*' ? ['*', '*'] : range.split('/').map((part) => part.trim());
  const [type, subtype] = types;
  if (types.length !== 2 || !type || !subtype) return undefined;
  const parameters: Record<string, string> = {};
  let quality = 1;
  for (const parameter of rest) {
    const equals = parameter.indexOf('=');
    if (equals < 0) continue;
    const name = parameter.slice(0, equals).trim();
    const value = parameter.slice(equals + 1).trim();
    if (name === 'q') quality = Number.parseFloat(value) || 0;
    else parameters[name] = value;
  }
  return { type, subtype, parameters, quality };
}

function comesBefore(clause: AcceptClause, other: AcceptClause | undefined): boolean {
  if (other === undefined) return false;
  if (clause.quality !== other.quality) return clause.quality > other.quality;
  if (clause.type !== '*' && other.type === '*') return true;
  return clause.subtype !== '*' && other.subtype === '*';
}
