// Rules for names. Each returns Kubernetes' message for an invalid value, or nothing.

export type Complaints = readonly string[];

type Form = {
  readonly says: string;
  readonly pattern: string;
  readonly examples: readonly string[];
};

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
const underscoreLabel = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const alphanumericEnds = 'must start and end with an alphanumeric character';

const maxLabelLength = 63;
const maxSubdomainLength = 253;

const forms = {
  label: {
    says: `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and ${alphanumericEnds}`,
    pattern: label,
    examples: ['my-name', '123-abc'],
  },
  subdomain: {
    says: `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and ${alphanumericEnds}`,
    pattern: subdomain,
    examples: ['example.com'],
  },
  caselessSubdomain: {
    says: `an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and ${alphanumericEnds}`,
    pattern: subdomain,
    examples: ['Example.com'],
  },
  underscoreSubdomain: {
    says: `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and ${alphanumericEnds}`,
    pattern: `${underscoreLabel}(\\.${underscoreLabel})*`,
    examples: ['example.com'],
  },
  label1035: {
    says: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    pattern: '[a-z]([-a-z0-9]*[a-z0-9])?',
    examples: ['my-name', 'abc-123'],
  },
  wildcard: {
    says: "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    pattern: `\\*\\.${subdomain}`,
    examples: ['*.example.com'],
  },
  qualified: {
    says: `must consist of alphanumeric characters, '-', '_' or '.', and ${alphanumericEnds}`,
    pattern: qualified,
    examples: ['MyName', 'my.name', '123-abc'],
  },
  labelValue: {
    says: `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and ${alphanumericEnds}`,
    pattern: `(${qualified})?`,
    examples: ['MyValue', 'my_value', '12345'],
  },
  configKey: {
    says: "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    pattern: '[-._a-zA-Z0-9]+',
    examples: ['key.name', 'KEY_NAME', 'key-name'],
  },
  envVar: {
    says: "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
    pattern: '[-._a-zA-Z][-._a-zA-Z0-9]*',
    examples: ['my.env-name', 'MY_ENV.NAME', 'MyEnvName1'],
  },
  httpHeader: {
    says: "a valid HTTP header must consist of alphanumeric characters or '-'",
    pattern: '[-A-Za-z0-9]+',
    examples: ['X-Header-Name'],
  },
  cIdentifier: {
    says: "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
    pattern: '[A-Za-z_][A-Za-z0-9_]*',
    examples: ['my_name', 'MY_NAME', 'MyName'],
  },
  percent: {
    says: "a valid percent string must be a numeric string followed by an ending '%'",
    pattern: '[0-9]+%',
    examples: ['1%', '93%'],
  },
} as const satisfies Record<string, Form>;

/** Longer texts are invalid anyway, and matching takes time in proportion to the length. */
const maxFormLength = 4096;
type Pattern = { readonly test: (value: string) => boolean };

function whole(pattern: string, flags = ''): Pattern {
  const expression = new RegExp(`^${pattern}$`, flags);
  return { test: (value) => value.length <= maxFormLength && expression.test(value) };
}

const patterns = {
  ...(Object.fromEntries(
    Object.entries(forms).map(([name, form]) => [name, whole(form.pattern)]),
  ) as Record<keyof typeof forms, Pattern>),
  caselessSubdomain: whole(subdomain, 'i'),
};

export function dns1123Label(value: string): Complaints {
  if (patterns.label.test(value)) return tooLong(value, maxLabelLength, 'characters');
  const form = patterns.subdomain.test(value) ? 'must not contain dots' : formText(forms.label);
  return [...tooLong(value, maxLabelLength, 'characters'), form];
}

export function dns1123Subdomain(value: string): Complaints {
  return sized('subdomain', value, maxSubdomainLength);
}

/** Upper case is allowed, for names that have always allowed it. */
export function dns1123SubdomainCaseless(value: string): Complaints {
  return [
    ...tooLong(value, maxSubdomainLength, 'bytes'),
    ...(patterns.caselessSubdomain.test(value) ? [] : [formText(forms.caselessSubdomain)]),
  ];
}

/** For DNS search domains, whose labels may have underscores. */
export function dns1123SubdomainWithUnderscore(value: string): Complaints {
  return sized('underscoreSubdomain', value, maxSubdomainLength);
}

export function dns1035Label(value: string): Complaints {
  return sized('label1035', value, maxLabelLength);
}

export function wildcardDns1123Subdomain(value: string): Complaints {
  return sized('wildcard', value, maxSubdomainLength);
}

/** `name` or `prefix/name`: keys of labels and annotations, finalizers, application protocols. */
export function qualifiedName(value: string): Complaints {
  if (knownQualified.has(value)) return [];
  const complaints = qualifiedComplaints(value);
  if (complaints.length === 0) {
    if (knownQualified.size >= maxKnownQualified) knownQualified.clear();
    knownQualified.add(value);
  }
  return complaints;
}

/** Caches valid ones: the same keys occur again and again. */
const knownQualified = new Set<string>();
const maxKnownQualified = 1_000;

function qualifiedComplaints(value: string): Complaints {
  // Without a prefix and valid.
  if (value.length <= maxLabelLength && patterns.qualified.test(value)) return [];
  const parts = value.split('/');
  if (parts.length > 2) {
    const text = formText(forms.qualified);
    return [
      `a valid label key ${text} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  const complaints = parts.length === 2 ? prefixPart(parts[0] ?? '') : [];
  return [...complaints, ...namePart(name)];
}

export function labelValue(value: string): Complaints {
  const complaints = tooLong(value, maxLabelLength, 'bytes');
  return patterns.labelValue.test(value) ? complaints : [...complaints, formText(forms.labelValue)];
}

/** Usable as a segment of a URL path. */
export function pathSegmentName(value: string): Complaints {
  return value === '.' || value === '..' ? [`may not be '${value}'`] : pathSegmentPrefix(value);
}

export function configMapKey(value: string): Complaints {
  return [...sized('configKey', value, maxSubdomainLength), ...dotsInFront(value)];
}

export function envVarName(value: string): Complaints {
  return [...(patterns.envVar.test(value) ? [] : [formText(forms.envVar)]), ...dotsInFront(value)];
}

/** Names of environment variables since 1.34: any printable ASCII except the equals sign. */
export function relaxedEnvVarName(value: string): Complaints {
  if (value === '') return ['environment variable name must be non-empty'];
  return /^[\x20-\x3c\x3e-\x7e]+$/.test(value)
    ? []
    : [
        "a valid environment variable name must consist only of printable ASCII characters other than '='",
      ];
}

export function httpHeaderName(value: string): Complaints {
  return patterns.httpHeader.test(value) ? [] : [formText(forms.httpHeader)];
}

export function cIdentifier(value: string): Complaints {
  return patterns.cIdentifier.test(value) ? [] : [formText(forms.cIdentifier)];
}

export function percent(value: string): Complaints {
  return patterns.percent.test(value) ? [] : [formText(forms.percent)];
}

/** IANA_SVC_NAME: names of ports. */
export function portName(value: string): Complaints {
  const complaints = [...tooLong(value, 15, 'characters')];
  if (!/^[-a-z0-9]+$/.test(value)) {
    complaints.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(value)) complaints.push('must contain at least one letter (a-z)');
  if (value.includes('--')) complaints.push('must not contain consecutive hyphens');
  if (value.startsWith('-') || value.endsWith('-')) {
    complaints.push('must not begin or end with a hyphen');
  }
  return complaints;
}

export function portNumber(value: number): Complaints {
  return inRange(value, 1, 65535);
}

export function inRange(value: number, low: number, high: number): Complaints {
  return value >= low && value <= high ? [] : [`must be between ${low} and ${high}, inclusive`];
}

/** A subdomain of at least three labels. */
export function fullyQualifiedName(value: string): Complaints {
  const complaints = dns1123Subdomain(value);
  if (complaints.length > 0) return [complaints.join(',')];
  return value.split('.').length < 3
    ? ['should be a domain with at least three segments separated by dots']
    : [];
}

const pathPattern = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const pathForm = whole(pathPattern);

/** `acme.io/foo`: a subdomain, and a URL path. */
export function domainPrefixedPath(value: string): Complaints {
  const slash = value.indexOf('/');
  if (slash <= 0 || slash === value.length - 1) {
    return ['must be a domain-prefixed path (such as "acme.io/foo")'];
  }
  const complaints = dns1123Subdomain(value.slice(0, slash));
  return pathForm.test(value.slice(slash + 1))
    ? complaints
    : [...complaints, `Invalid path (regex used for validation is '${pathPattern}')`];
}

// Rules for metadata.name. A generateName prefix may end in characters that are invalid at the end of a name.

export function nameIsDnsSubdomain(name: string, prefix: boolean): Complaints {
  return dns1123Subdomain(prefix ? maskTrailingDash(name) : name);
}

export function nameIsDnsLabel(name: string, prefix: boolean): Complaints {
  return dns1123Label(prefix ? maskTrailingDash(name) : name);
}

export function nameIsPathSegment(name: string, prefix: boolean): Complaints {
  return prefix ? pathSegmentPrefix(name) : pathSegmentName(name);
}

/** Only when something precedes the dash, as upstream. */
function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}

function prefixPart(prefix: string): Complaints {
  if (prefix === '') return ['prefix part must be non-empty'];
  return [
    ...tooLong(prefix, maxSubdomainLength, 'bytes'),
    ...(patterns.subdomain.test(prefix) ? [] : [formText(forms.subdomain)]),
  ].map((text) => `prefix part ${text}`);
}

function namePart(name: string): Complaints {
  const length = name === '' ? ['must be non-empty'] : tooLong(name, maxLabelLength, 'bytes');
  const form = patterns.qualified.test(name) ? [] : [formText(forms.qualified)];
  return [...length, ...form].map((text) => `name part ${text}`);
}

/** Upstream has no limit for these names; keys of the embedded storage have, and the name is most of a key. */
const maxPathSegment = 1_200;

function pathSegmentPrefix(value: string): Complaints {
  const contained = ['/', '%'].filter((c) => value.includes(c));
  return [
    ...contained.map((c) => `may not contain '${c}'`),
    ...tooLong(value, maxPathSegment, 'bytes'),
  ];
}

function dotsInFront(value: string): Complaints {
  if (value === '.' || value === '..') return [`must not be '${value}'`];
  return value.startsWith('..') ? ["must not start with '..'"] : [];
}

function sized(form: keyof typeof forms, value: string, longest: number): Complaints {
  const complaints = tooLong(value, longest, 'characters');
  return patterns[form].test(value) ? complaints : [...complaints, formText(forms[form])];
}

/** Lengths are in bytes, although the messages of older rules say characters. */
function tooLong(value: string, longest: number, unit: 'characters' | 'bytes'): Complaints {
  // A UTF-16 code unit has at most three bytes in UTF-8.
  return value.length * 3 > longest && Buffer.byteLength(value) > longest
    ? [`must be no more than ${longest} ${unit}`]
    : [];
}

function formText({ says, pattern, examples }: Form): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${says} (e.g. ${shown}regex used for validation is '${pattern}')`;
}
