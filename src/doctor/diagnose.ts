// Runs the checks over a snapshot. Findings are grouped by what they are about, and within a Service causes come before what follows from them.
import type { Propagation } from '../kinds/part/propagation.ts';
import type { Service } from '../kinds/service/types.ts';
import type { ClusterSettings } from '../snapshot/cluster-settings.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import { isRead, type SnapshotKind } from '../snapshot/snapshot.ts';
import { allChecks } from './all-checks.ts';
import {
  type Check,
  type ClusterCheck,
  type Finding,
  type ObjectName,
  type ServiceCheck,
  type Severity,
  type Symptom,
  severities,
} from './check.ts';
import type { ManifestFacts } from './manifest-facts.ts';
import { objectId, objectName } from './object-names.ts';
import { patchCommand } from './patch-command.ts';
import { type Cluster, createCluster, serviceSubject } from './subject.ts';

export type DiagnoseScope = {
  /** Absent: all that the snapshot has. */
  readonly namespace?: string;
  /** One Service of that namespace. */
  readonly service?: string;
  readonly isLive: boolean;
  readonly nowMs: number;
};

export type SkippedCheck = {
  readonly code: string;
  readonly title: string;
  readonly unread: readonly SnapshotKind[];
};

export type Diagnosis = {
  /** How many were checked. */
  readonly services: number;
  /** Errors first, then by object; of one object in the order of causes. */
  readonly findings: readonly Finding[];
  /** Checks that could not be made, because a list could not be read. */
  readonly skipped: readonly SkippedCheck[];
};

export type DiagnoseInput = {
  readonly index: SnapshotIndex;
  readonly settings: ClusterSettings;
  readonly scope: DiagnoseScope;
  /** Of the newest change in question, on servers whose parts answer. */
  readonly propagation?: Propagation;
  /** Where the objects come from manifests. */
  readonly manifests?: ManifestFacts;
};

export function diagnose(
  { index, settings, scope, manifests, propagation }: DiagnoseInput,
  checks: readonly Check[] = allChecks,
): Diagnosis {
  const services = servicesOf(index, scope);
  const cluster = createCluster({
    index,
    settings,
    isLive: scope.isLive,
    nowMs: scope.nowMs,
    services,
    ...(manifests === undefined ? {} : { manifests }),
    ...(propagation === undefined ? {} : { propagation }),
    isInScope: (namespace) => scope.namespace === undefined || scope.namespace === namespace,
  });
  const fitting = checks.filter(({ isLiveOnly = false }) => scope.isLive || !isLiveOnly);
  const skipped = fitting.flatMap((check) => skippedCheck(check, index, scope));
  const skippedCodes = new Set(skipped.map(({ code }) => code));
  const usable = fitting.filter(({ code }) => !skippedCodes.has(code));
  const findings = [...findInServices(usable, cluster), ...findInCluster(usable, cluster, scope)];
  return {
    services: services.length,
    findings: inOrder(withoutRepeats(findings), checks),
    skipped,
  };
}

function servicesOf(
  index: SnapshotIndex,
  { namespace, service }: DiagnoseScope,
): readonly Service[] {
  if (namespace === undefined) return index.snapshot.objects.services;
  if (service === undefined) return index.servicesIn(namespace);
  const found = index.service(namespace, service);
  return found === undefined ? [] : [found];
}

function skippedCheck(
  { code, title, needs }: Check,
  { snapshot }: SnapshotIndex,
  { namespace }: DiagnoseScope,
): readonly SkippedCheck[] {
  const unread = needs.filter((kind) => !isRead(snapshot, kind, namespace));
  return unread.length === 0 ? [] : [{ code, title, unread }];
}

function findInServices(checks: readonly Check[], cluster: Cluster): readonly Finding[] {
  const ofServices = checks.filter((check): check is ServiceCheck => check.scope === 'service');
  return cluster.services.flatMap((service) => {
    const subject = serviceSubject(cluster, service);
    const about = objectName(service);
    const found: Finding[] = [];
    const explained: string[] = [];
    for (const check of ofServices) {
      if (explained.some((beginning) => check.code.startsWith(beginning))) continue;
      const symptoms = check.find(subject);
      found.push(...symptoms.map((symptom) => finding(check, about, symptom)));
      if (symptoms.length > 0) explained.push(...(check.explains ?? []));
    }
    return found;
  });
}

/** Those about other objects are left out when one Service is in question. */
function findInCluster(
  checks: readonly Check[],
  cluster: Cluster,
  { service }: DiagnoseScope,
): readonly Finding[] {
  return checks
    .filter((check): check is ClusterCheck => check.scope === 'cluster')
    .flatMap((check) =>
      check.find(cluster).map((symptom) => finding(check, symptom.about, symptom)),
    )
    .filter(
      ({ about }) => service === undefined || (about.kind === 'Service' && about.name === service),
    );
}

function finding(check: Check, about: ObjectName, symptom: Symptom): Finding {
  const { code, title } = check;
  const { message, evidence, severity = check.severity, fix, source } = symptom;
  const command = fix?.command ?? (fix?.patch === undefined ? undefined : patchCommand(fix.patch));
  return {
    code,
    severity,
    title,
    about,
    message,
    evidence,
    ...(source === undefined ? {} : { source }),
    ...(fix === undefined
      ? {}
      : { fix: { ...fix, ...(command === undefined ? {} : { command }) } }),
  };
}

/** What is said of several pods or fields in the same words. */
export function withoutRepeats(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ code, about, message }) => {
    const key = `${code} ${objectId(about)} ${message}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

const rankOf = (severity: Severity): number => severities.indexOf(severity);

/** Objects by their worst finding, then by name. */
function inOrder(findings: readonly Finding[], checks: readonly Check[]): readonly Finding[] {
  const worst = new Map<string, number>();
  for (const { about, severity } of findings) {
    const id = objectId(about);
    worst.set(id, Math.min(worst.get(id) ?? severities.length, rankOf(severity)));
  }
  const position = new Map(checks.map(({ code }, at) => [code, at]));
  return findings
    .map((one) => ({ one, id: objectId(one.about) }))
    .sort(
      (a, b) =>
        (worst.get(a.id) ?? 0) - (worst.get(b.id) ?? 0) ||
        (a.id < b.id ? -1 : a.id > b.id ? 1 : 0) ||
        rankOf(a.one.severity) - rankOf(b.one.severity) ||
        (position.get(a.one.code) ?? 0) - (position.get(b.one.code) ?? 0),
    )
    .map(({ one }) => one);
}
