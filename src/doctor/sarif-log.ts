// A diagnosis in the Static Analysis Results Interchange Format, which CI systems show at the lines of a change (OASIS, SARIF 2.1.0).
import { createHash } from 'node:crypto';
import { allChecks } from './all-checks.ts';
import type { Check, Finding, Severity, SourceLine } from './check.ts';
import type { Diagnosis } from './diagnose.ts';
import { objectId, objectText } from './object-names.ts';

export type SarifOptions = {
  /** Of this program. */
  readonly version: string;
  /** The documentation of each code, in Markdown. */
  readonly pages: ReadonlyMap<string, string>;
};

type Level = 'error' | 'warning' | 'note';

const levels: Readonly<Record<Severity, Level>> = {
  error: 'error',
  warning: 'warning',
  info: 'note',
};

export function sarifLog({ findings, skipped }: Diagnosis, { version, pages }: SarifOptions) {
  const codes = [...new Set(findings.map(({ code }) => code))].sort();
  const rules = codes.flatMap((code) => allChecks.filter((check) => check.code === code));
  const position = new Map(rules.map(({ code }, index) => [code, index]));
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'fairlead doctor',
            version,
            semanticVersion: version,
            rules: rules.map((check) => ruleOf(check, pages.get(check.code) ?? '')),
          },
        },
        invocations: [
          {
            executionSuccessful: true,
            // What could not be checked is not the same as well.
            toolExecutionNotifications: skipped.map(({ code, title, unread }) => ({
              level: 'warning' satisfies Level,
              message: { text: `${code} skipped (${title}): cannot read ${unread.join(', ')}` },
            })),
          },
        ],
        columnKind: 'utf16CodeUnits',
        results: findings.map((finding) => ({
          ...resultOf(finding),
          ruleIndex: position.get(finding.code) ?? -1,
        })),
      },
    ],
  };
}

function ruleOf({ code, title, severity }: Check, page: string) {
  const [summary = title] = page
    .split('\n\n')
    .slice(1)
    .map((part) => part.replaceAll('\n', ' ').trim());
  return {
    id: code,
    name: title,
    shortDescription: { text: title },
    fullDescription: { text: summary },
    help: { text: page || title, markdown: page || title },
    defaultConfiguration: { level: levels[severity] },
    properties: { tags: ['kubernetes', 'service'] },
  };
}

function resultOf({ code, severity, about, message, fix, evidence, source }: Finding) {
  const physical = source === undefined ? undefined : physicalLocation(source);
  const advice = fix === undefined ? '' : `. Fix: ${fix.sentence}`;
  return {
    ruleId: code,
    level: levels[severity],
    message: { text: `${objectText(about)}: ${message}${advice}` },
    locations: [
      {
        ...(physical === undefined ? {} : { physicalLocation: physical }),
        logicalLocations: [
          {
            name: about.name,
            fullyQualifiedName: objectId(about),
            kind: 'resource',
          },
        ],
      },
    ],
    // The same finding in the next run, though its words and lines may differ.
    partialFingerprints: { 'fairleadFinding/v1': fingerprint(code, objectId(about), evidence) },
    ...(fix?.command === undefined ? {} : { properties: { command: fix.command } }),
  };
}

/** Standard input has no address. */
function physicalLocation({ file, line }: SourceLine) {
  if (file === '' || file === 'STDIN') return undefined;
  const path = file.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  return {
    artifactLocation: path.startsWith('/')
      ? { uri: `file://${encoded}` }
      : { uri: encoded, uriBaseId: '%SRCROOT%' },
    region: { startLine: Math.max(1, line) },
  };
}

function fingerprint(code: string, about: string, evidence: Finding['evidence']): string {
  const fields = evidence.map(({ field }) => field).join(' ');
  return createHash('sha256').update(`${code} ${about} ${fields}`).digest('hex').slice(0, 32);
}
