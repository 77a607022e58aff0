// Labels, annotations and finalizers of jobs and their pods.
/** Without a prefix, as the first versions of the API had them; pods still carry them. */
export const legacyControllerUidLabel = 'controller-uid';
export const legacyJobNameLabel = 'job-name';

/** Annotations of a pod whose job has a back-off limit per index. */
export const indexFailureCountAnnotation = 'batch.kubernetes.io/job-index-failure-count';
export const indexIgnoredFailureCountAnnotation =
  'batch.kubernetes.io/job-index-ignored-failure-count';

/** Holds a pod until it is in the counters of its job. */
export const jobTrackingFinalizer = 'batch.kubernetes.io/job-tracking';

/** The value of managedBy that means the controller of the cluster. */
export const defaultJobController = 'kubernetes.io/job-controller';
