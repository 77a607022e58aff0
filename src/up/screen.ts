// The summary that `up` prints when it is ready.
export type ScreenLine = { readonly name: string; readonly text: string };

export type Screen = {
  readonly version: string;
  readonly tookMs: number;
  readonly lines: readonly ScreenLine[];
  /** Relative to the current directory where that is shorter. */
  readonly kubeconfig: string;
  readonly tries: readonly string[];
};

export function renderScreen({ version, tookMs, lines, kubeconfig, tries }: Screen): string {
  const width = Math.max(...lines.map(({ name }) => name.length)) + 3;
  const rows = lines.flatMap(({ name, text }) =>
    text.split('\n').map((part, index) => `${(index === 0 ? name : '').padEnd(width)}${part}`),
  );
  return [
    '',
    `  Fairlead ${version}, ready after ${Math.round(tookMs)} ms`,
    '',
    ...rows.map((row) => `    ${row}`),
    '',
    '  Use it from another terminal:',
    '',
    `    export KUBECONFIG=${kubeconfig}`,
    ...tries.map((line) => `    ${line}`),
    '',
    '  Press Ctrl-C to stop it.',
    '',
    '',
  ].join('\n');
}
