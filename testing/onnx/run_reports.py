"""Runs the cases of a folder with baton-run and baton-opt, in all ways.

usage: run_reports.py BATON_RUN BATON_OPT FOLDER

With BATON_LONG_TESTS=1 all cases run, and are exported for all opsets; without,
each tenth, for one opset in turn.

Prints a line for each way in which a case is wrong; the exit code is 1 if there
is one.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

OPSETS = (13, 17, 21)
# A model that fills large tensors stays small.
MAX_GROWTH = 1 << 20


def run(command):
  done = subprocess.run(command, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, check=False)
  return done.returncode, (done.stdout + done.stderr).decode('utf-8', 'replace')


def other_signs_of_zeros(got_path, want_path):
  """Names of results that have a zero of another sign than is expected."""
  got, want = np.load(got_path), np.load(want_path)
  wrong = []
  for name in want.files:
    if name not in got.files or want[name].dtype.kind != 'f':
      continue
    a, b = got[name], want[name]
    if a.shape != b.shape:
      continue
    zeros = (a == 0) & (b == 0)
    if np.any(np.signbit(a[zeros]) != np.signbit(b[zeros])):
      wrong.append(name)
  return wrong


class Case:

  def __init__(self, baton_run, baton_opt, folder, temporary, opsets):
    self.baton_run = baton_run
    self.baton_opt = baton_opt
    self.folder = folder
    self.temporary = temporary
    self.opsets = opsets
    with open(os.path.join(folder, 'case.json'), encoding='utf-8') as file:
      self.case = json.load(file)
    self.passes = self.case.get('passes') or 'onnx,O3'

  def path(self, name):
    return os.path.join(self.folder, name)

  def evaluate(self, model, passes):
    """What is wrong with the results of a model; empty if nothing is."""
    rtol, atol = self.case['tol'] or (1e-5, 1e-6)
    results = os.path.join(self.temporary, 'results.npz')
    code, text = run([
        self.baton_run, model, '--inputs=' + self.path('inputs.npz'),
        '--expect=' + self.path('expected.npz'), f'--rtol={rtol}',
        f'--atol={atol}', '--outputs=' + results, '--passes=' + passes
    ])
    if code != 0:
      return text
    if self.case['tol'] is None:
      wrong = other_signs_of_zeros(results, self.path('expected.npz'))
      if wrong:
        return 'signs of zeros in ' + ', '.join(wrong)
    return ''

  def export(self, model, passes, opset):
    """The path of the written model, or None and what is wrong."""
    written = os.path.join(self.temporary, 'written.onnx')
    code, text = run([
        self.baton_opt, model, '--passes=' + passes, '--output=' + written,
        f'--onnx_opset={opset}'
    ])
    if code != 0:
      # Operators that an older opset does not have are refused by name.
      return None, '' if 'needs opset' in text else text
    growth = os.path.getsize(written) - os.path.getsize(model)
    if growth > MAX_GROWTH:
      return None, f'the written file is {growth} bytes larger'
    return written, ''

  def check_error(self, model):
    command = [self.baton_run, model, '--inputs=' + self.path('inputs.npz')]
    if self.case.get('error_is_difference'):
      code, text = run(command + ['--expect=' + self.path('expected.npz')])
      return '' if code == 1 and 'differ' in text else text
    code, text = run(command)
    # The place is a line of the listing of the graph.
    return '' if code == 1 and '.onnx:' in text else text

  def failures(self):
    for name in ('model.onnx', 'model_sym.onnx', 'model_const.onnx'):
      model = self.path(name)
      if not os.path.exists(model):
        continue
      if self.case['error']:
        yield name, self.check_error(model)
        continue
      for passes in ('', self.passes):
        yield f'{name} {passes}', self.evaluate(model, passes)
        for opset in self.opsets:
          way = f'{name} {passes} opset {opset}'
          written, wrong = self.export(model, passes, opset)
          if written is not None:
            wrong = self.evaluate(written, '')
          yield way, wrong


def main():
  baton_run, baton_opt, folder = sys.argv[1:4]
  num_wrong = num_ways = 0
  with tempfile.TemporaryDirectory() as temporary:
    names = [name for name in sorted(os.listdir(folder))
             if os.path.exists(os.path.join(folder, name, 'case.json'))]
    is_long = os.environ.get('BATON_LONG_TESTS', '') not in ('', '0')
    if not is_long:
      names = names[::10]
    for number, name in enumerate(names):
      opsets = OPSETS if is_long else (OPSETS[number % len(OPSETS)],)
      case = Case(baton_run, baton_opt, os.path.join(folder, name), temporary,
                  opsets)
      for way, wrong in case.failures():
        num_ways += 1
        if wrong:
          num_wrong += 1
          print(f'{name}, {way}: {wrong.strip()}')
  print(f'{num_ways - num_wrong} of {num_ways} ways are right.')
  return 0 if num_ways > 0 and num_wrong == 0 else 1


if __name__ == '__main__':
  sys.exit(main())
