// Hides secrets in the command line, which every user of the machine can read while the process runs.

/** A bootstrap token; its ID, the part before the dot, is not secret. */
const bootstrapToken = /^([a-z0-9]{6})\.[a-z0-9]{16}$/;
const hidden = '***';

/** The arguments with secrets masked; undefined without secrets. */
export function withoutSecrets(argv: readonly string[]): readonly string[] | undefined {
  const shown = argv.map((word, index) => {
    if (word.startsWith('--token=')) return `--token=${masked(word.slice('--token='.length))}`;
    return argv[index - 1] === '--token' ? masked(word) : maskedToken(word);
  });
  return shown.some((word, index) => word !== argv[index]) ? shown : undefined;
}

const masked = (secret: string): string =>
  bootstrapToken.test(secret) ? maskedToken(secret) : hidden;

const maskedToken = (word: string): string => {
  const [, id] = bootstrapToken.exec(word) ?? [];
  return id === undefined ? word : `${id}.${hidden}`;
};

/** Overwrites the arguments that /proc and `ps` show. They are visible for a moment before: prefer a file. */
export function hideSecrets(argv: readonly string[]): void {
  const shown = withoutSecrets(argv);
  if (shown !== undefined) process.title = ['fairlead', ...shown].join(' ');
}
