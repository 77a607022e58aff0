// `$(NAME)` in commands, arguments and values stands for a variable; `$$` for a dollar sign. A name that is not known stays as it
// is written, and so does a parenthesis that is not closed.

export function expandVariables(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (written: string, name?: string) =>
    name === undefined ? '$' : (variables[name] ?? written),
  );
}
