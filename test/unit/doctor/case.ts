// The form of the tables of broken and healthy clusters.

export type BrokenCase = {
  readonly name: string;
  /** As `clusterOf` reads it. */
  readonly objects: string;
  /** Of the first finding. */
  readonly code: string;
  /** Of all findings above `info`, where more than one is right. */
  readonly also?: readonly string[];
  /** Part of its message. */
  readonly says?: string;
  /** Part of the command that fixes it. */
  readonly fix?: string;
};

export type HealthyCase = {
  readonly name: string;
  readonly objects: string;
};
