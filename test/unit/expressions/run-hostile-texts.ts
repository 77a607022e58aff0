// A process of its own, because an expression that goes wild cannot be stopped from beside: reads the expressions of
// modules that build them at run time, then lets every expression meet its hostile texts.
import { Script } from 'node:vm';
import { buildAutomaton, costOf } from './automaton.ts';
import { hostileTexts } from './hostile-texts.ts';
import { parseExpression } from './parse-expression.ts';

export type Expression = {
  readonly where: string;
  readonly source: string;
  readonly flags: string;
};
export type Findings = {
  readonly slow: readonly string[];
  readonly built: readonly Expression[];
  readonly tried: number;
};

/**
 * A linear match of one text takes well below a millisecond, a quadratic one seconds: this lies far from both, however
 * busy the machine is.
 */
const timeoutMs = 2_000;

type Task = {
  readonly literals: readonly Expression[];
  /** Modules with expressions that are built. */
  readonly modules: readonly string[];
};

const task: Task = JSON.parse(process.argv[2] ?? '{}');
const built = await builtExpressions(task.modules);
const slow: string[] = [];
let tried = 0;
for (const { where, source, flags } of [...task.literals, ...built]) {
  const automaton = buildAutomaton(parseExpression(source, flags), flags);
  const cost = costOf(automaton);
  if (cost !== undefined) slow.push(`${where} /${source}/${flags}: ${cost}`);
  for (const text of hostileTexts(automaton)) {
    tried += 1;
    if (isQuick(source, flags, text)) continue;
    slow.push(`${where} /${source}/${flags}: too long on ${JSON.stringify(text.slice(0, 60))}...`);
    break;
  }
}
process.stdout.write(JSON.stringify({ slow, built, tried } satisfies Findings));

function isQuick(source: string, flags: string, text: string): boolean {
  const script = new Script(
    `(text) => text.replace(new RegExp(${JSON.stringify(source)}, ${JSON.stringify(flags)}), '')`,
  );
  const replace = script.runInThisContext() as (text: string) => string;
  Object.assign(globalThis, { hostileReplace: replace, hostileText: text });
  try {
    new Script('hostileReplace(hostileText)').runInThisContext({ timeout: timeoutMs });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}

/** Loads the modules with a constructor that writes down what it is asked for. */
async function builtExpressions(modules: readonly string[]): Promise<readonly Expression[]> {
  const original = globalThis.RegExp;
  const found: Expression[] = [];
  for (const module of modules) {
    globalThis.RegExp = new Proxy(original, {
      construct(target, args, newTarget) {
        const expression: RegExp = Reflect.construct(target, args, newTarget);
        found.push({ where: module, source: expression.source, flags: expression.flags });
        return expression;
      },
    });
    try {
      await import(new URL(`../../../src/${module}`, import.meta.url).href);
    } finally {
      globalThis.RegExp = original;
    }
  }
  return found;
}
