// Lines of container logs as container runtimes write them: `2026-01-01T00:00:00.000000000Z stdout F text`.

export type LogStream = 'stdout' | 'stderr';

export type LogLine = {
  /** RFC 3339 with nine digits, which sorts as text. */
  readonly time: string;
  readonly stream: LogStream;
  /** Whether the program's line ends here; long lines are split. */
  readonly isWhole: boolean;
  readonly text: string;
};

/** Longer lines are split, as containerd does. */
export const maxPartLength = 16 * 1024;

export function renderLogLine({ time, stream, isWhole, text }: LogLine): string {
  return `${time} ${stream} ${isWhole ? 'F' : 'P'} ${text}\n`;
}

export function parseLogLine(line: string): LogLine | undefined {
  const [, time = '', stream, tag, text = ''] =
    /^(\S+) (stdout|stderr) ([FP]) (.*)$/s.exec(line) ?? [];
  if (stream !== 'stdout' && stream !== 'stderr') return undefined;
  return { time, stream, isWhole: tag === 'F', text };
}

export function logTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000000Z');
}
