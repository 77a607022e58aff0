// What help and the reference say of a flag: its meaning, what it may be, and what it is when it is not given.
import type { Option } from 'commander';

export function describeFlag(option: Option): string {
  const more = [...choicesOf(option), ...defaultOf(option)];
  return more.length === 0 ? option.description : `${option.description} (${more.join('; ')})`;
}

/** None where the description names them all. */
function choicesOf({ argChoices, description }: Option): readonly string[] {
  if (argChoices === undefined) return [];
  const isTold = argChoices.every((choice) => description.includes(choice));
  return isTold ? [] : [`one of ${argChoices.join(', ')}`];
}

/** A default that is parsed already is no text: whoever has one says in words what was written. */
function defaultOf(option: Option): readonly string[] {
  const { defaultValue, defaultValueDescription, description, negate, hidden } = option;
  if (description.includes('(default:') || negate || hidden) return [];
  if (defaultValueDescription !== undefined) return [`default: ${defaultValueDescription}`];
  const isText = typeof defaultValue === 'string' && defaultValue !== '';
  return isText || typeof defaultValue === 'number' ? [`default: ${defaultValue}`] : [];
}
