// The fields that a new object sets. They depend on its shape alone, on names and keys but hardly on any
// value, and most objects of a kind have one of a few shapes. Shapes are cached as a tree: each name is an edge,
// and a leaf has the field set of the objects with this shape.

import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import type { ListNode, MapNode, Schema, StructNode } from '../../schema/node.ts';
import { compareObjects } from './compare-objects.ts';
import { type FieldSet, printFieldSet, withoutPath } from './fieldset.ts';
import { sameValue } from './json-value.ts';
import { internSet } from './known-sets.ts';
import { itemKeyValues } from './path-element.ts';
import { isAtomic, isBare, schemaOf, zeroObject } from './typed-value.ts';

export type Creation = {
  readonly schema: StructNode;
  readonly object: JsonObject;
  /** Paths of fields that the write cannot set. */
  readonly reset: readonly (readonly string[])[];
};

/** All fields of the new object, in the stored order. */
export function createdFields({ schema, object, reset }: Creation): FieldSet {
  const first = firstForm(schema, reset);
  const before = steps;
  maxStepsNow = before + maxNewSteps;
  const form = fieldForms(schema, zeroObject(schema), { value: object, from: first });
  // Too large to recur: its shape is not cached.
  if (steps >= maxStepsNow) return newSet({ schema, object, reset });
  form.set ??= newSet({ schema, object, reset });
  return form.set;
}

function newSet({ schema, object, reset }: Creation): FieldSet {
  const { changed } = compareObjects(schema, zeroObject(schema), object);
  return internSet(printFieldSet(reset.reduce(withoutPath, changed)));
}

/** A node of the tree: the path so far, and its edges. */
type Form = {
  readonly next: Map<unknown, Form>;
  set: FieldSet | undefined;
};

type FormValue = { readonly value: unknown; readonly from: Form };

/** What is no name or value of an object. */
const marks = {
  sameAsZero: Symbol('same as zero'),
  unlikeZero: Symbol('unlike zero'),
  member: Symbol('member'),
  added: Symbol('added'),
  item: Symbol('item'),
  end: Symbol('end'),
  misfit: Symbol('misfit'),
} as const;

/** Nodes of all trees; a client that invents new keys makes them start anew. */
const maxSteps = 50_000;

/** Of one object: what has more names is as large as few objects are, and hardly ever like another. */
const maxNewSteps = 2_000;
/** Up to which the object that is looked at may lead. */
let maxStepsNow = 0;
/** Where an object is too large, all that is left of it is passed over. */
const tooLarge: Form = { next: new Map(), set: undefined };

type Reset = Creation['reset'];

/** By the schema and by the list of what is reset, of which there are a few. */
const roots = new Map<StructNode, Map<Reset, Form>>();
let steps = 0;

const emptyForm = (): Form => ({ next: new Map(), set: undefined });

function firstForm(schema: StructNode, reset: Reset): Form {
  if (steps > maxSteps) {
    roots.clear();
    steps = 0;
  }
  let byReset = roots.get(schema);
  if (byReset === undefined) {
    byReset = new Map();
    roots.set(schema, byReset);
  }
  let form = byReset.get(reset);
  if (form === undefined) {
    form = emptyForm();
    byReset.set(reset, form);
    steps += 1;
  }
  return form;
}

function step({ next }: Form, by: unknown): Form {
  let form = next.get(by);
  if (form === undefined) {
    if (steps >= maxStepsNow) return tooLarge;
    form = emptyForm();
    next.set(by, form);
    steps += 1;
  }
  return form;
}

/** `zero` is the value of the object before anything was set, if it has the field then. */
function valueForm(schema: Schema, zero: unknown, { value, from }: FormValue): Form {
  if (zero === undefined) return addedForm(schema, value, from);
  if (isAtomic(schema) || (isBare(zero) && isBare(value))) {
    return step(from, sameValue(zero, value) ? marks.sameAsZero : marks.unlikeZero);
  }
  if (schema.node === 'list') return itemForms(schema, value, from);
  return fieldForms(schema as MapNode | StructNode, isJsonObject(zero) ? zero : none, {
    value,
    from,
  });
}

const none: JsonObject = Object.create(null);

function fieldForms(
  schema: MapNode | StructNode,
  zero: JsonObject,
  { value, from }: FormValue,
): Form {
  if (!isJsonObject(value)) return step(from, marks.misfit);
  let form = from;
  for (const key in value) {
    if (form === tooLarge) return form;
    const field = { value: value[key], from: step(form, key) };
    form = valueForm(schemaOf(schema, key), zero[key], field);
  }
  return step(form, marks.end);
}

function addedForm(schema: Schema, value: unknown, from: Form): Form {
  if (isAtomic(schema) || isBare(value)) return step(from, marks.member);
  const form = step(from, marks.added);
  if (schema.node === 'list') return itemForms(schema, value, form);
  return fieldForms(schema as MapNode | StructNode, none, { value, from: form });
}

/** Items are identified by their keys, so these values count. */
function itemForms(schema: ListNode, items: unknown, from: Form): Form {
  if (!Array.isArray(items)) return step(from, marks.misfit);
  let form = from;
  for (const item of items) {
    if (form === tooLarge) return form;
    form = step(form, marks.item);
    for (const value of itemKeyValues(schema, item)) form = valueStep(form, value);
    form = addedForm(schema.items, item, form);
  }
  return step(form, marks.end);
}

/** All but plain values go by their text. */
function valueStep(form: Form, value: unknown): Form {
  if (typeof value !== 'object' || value === null) return step(form, value);
  return step(step(form, marks.misfit), JSON.stringify(value));
}
