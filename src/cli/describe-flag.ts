// Describes a flag for the help and the reference: its meaning, its values and its default.
import type { Option } from 'commander';

export function describeFlag(option: Option): string {
  const more = [...choicesOf(option), ...defaultOf(option)];
  return more.length === 0 ? option.description : `${option.description} (${more.join('; ')})`;
}

/** Empty when the description names all choices. */
function choicesOf({ argChoices, description }: Option): readonly string[] {
  if (argChoices === undefined) return [];
  const isDescribed = argChoices.every((choice) => description.includes(choice));
  return isDescribed ? [] : [`one of ${argChoices.join(', ')}`];
}

/** A parsed default has no text form: its flag must set a description of the default. */
function defaultOf(option: Option): readonly string[] {
  const { defaultValue, defaultValueDescription, description, negate, hidden } = option;
  if (description.includes('(default:') || negate || hidden) return [];
  if (defaultValueDescription !== undefined) return [`default: ${defaultValueDescription}`];
  const isText = typeof defaultValue === 'string' && defaultValue !== '';
  return isText || typeof defaultValue === 'number' ? [`default: ${defaultValue}`] : [];
}
