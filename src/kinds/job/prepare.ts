// What the server sets when a job is written. Upstream: pkg/registry/batch/job/strategy.go.
import type { LabelSelector, Labels } from '../../meta/labels.ts';
import { labelValue } from '../../meta/names.ts';
import { controllerUidLabel, jobNameLabel } from '../../meta/well-known-labels.ts';
import { legacyControllerUidLabel, legacyJobNameLabel } from './names.ts';
import type { Job } from './types.ts';

export function prepareJobCreate(job: Job): Job {
  const prepared = job.spec.manualSelector === true ? job : withGeneratedSelector(job);
  return { ...withLabels(job, prepared), status: {} };
}

/** Labels that the template took over from generation are also the job's when it has none of its own. */
function withLabels(before: Job, job: Job): Job {
  const { labels } = before.metadata;
  const isOwn =
    Object.keys(labels ?? {}).length > 0 && labels !== before.spec.template.metadata.labels;
  const shared = job.spec.template.metadata.labels;
  // The name is no valid label, and is reported once, for the template.
  const isWrong = labels === undefined && labelValue(job.metadata.name ?? '').length > 0;
  if (isOwn || isWrong || shared === undefined) return job;
  return { ...job, metadata: { ...job.metadata, labels: shared } };
}

/** A UID selects the pods of this job only; what the client wrote stays, and validation judges it. */
function withGeneratedSelector(job: Job): Job {
  const { name = '', uid = '' } = job.metadata;
  const { template, selector } = job.spec;
  const labels = {
    [legacyJobNameLabel]: name,
    [jobNameLabel]: name,
    [legacyControllerUidLabel]: uid,
    [controllerUidLabel]: uid,
    ...template.metadata.labels,
  };
  return {
    ...job,
    spec: {
      ...job.spec,
      selector: generatedSelector(selector, uid),
      template: { ...template, metadata: { ...template.metadata, labels: sorted(labels) } },
    },
  };
}

function generatedSelector(selector: LabelSelector | undefined, uid: string): LabelSelector {
  const matchLabels = { [controllerUidLabel]: uid, ...selector?.matchLabels };
  return { ...selector, matchLabels: sorted(matchLabels) };
}

const sorted = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
