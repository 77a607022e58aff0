// Arguments can be read by every user of a machine for as long as the process lives. What is secret in them is taken out of sight.

/** A bootstrap token, of which the part before the dot is no secret. */
const bootstrapToken = /^([a-z0-9]{6})\.[a-z0-9]{16}$/;
const hidden = '***';

/** The arguments with secrets made unreadable; undefined when there are none. */
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

/** Writes over the arguments of this process, which is what /proc and `ps` show. There is a moment before: use a file instead. */
export function hideSecrets(argv: readonly string[]): void {
  const shown = withoutSecrets(argv);
  if (shown !== undefined) process.title = ['fairlead', ...shown].join(' ');
}
