"""Which numbers, quantities, dates and times count as equal, in both directions."""

from __future__ import annotations

import pytest

from tests.unit.verifiers.rules.comparing import compared
from workbench.verifiers.rules.quantities import RequiredForm, required_form

PLAIN = RequiredForm()

EQUAL = r"""
12 ~ 12 : number.exact
12 ~ 12.0 : number.exact
5! ~ 120 : expression
12 ~ 12. : number.exact
-3 ~ −3 : number.exact
–3 ~ -3 : number.exact
+7 ~ 7 : number.exact
.5 ~ 0.5 : number.exact
0.50 ~ 1/2 : number.exact
1,000,000 ~ 1000000 : number.exact
1{,}000 ~ 1000 : number.exact
1 000 000 ~ 1,000,000 : number.exact
1\,000 ~ 1000 : number.exact
1,\!000 ~ 1000 : number.exact
3/4 ~ \frac{3}{4} : number.exact
\dfrac{3}{4} ~ 0.75 : number.exact
\frac 34 ~ \tfrac{6}{8} : number.exact
\frac12 ~ ½ : number.exact
-\frac{1}{2} ~ \frac{-1}{2} : number.exact
2\frac{1}{2} ~ 5/2 : number.exact
2 1/2 ~ 2.5 : number.exact
2½ ~ 2.5 : number.exact
3.2\times10^{-5} ~ 0.000032 : number.exact
3.2e-5 ~ 3.2 \times 10^{-5} : number.exact
3 × 10⁵ ~ 300000 : number.exact
10^6 ~ 1000000 : number.exact
2^{10} ~ 1024 : number.exact
2^{-3} ~ 0.125 : number.exact
6.02\cdot10^{23} ~ 602000000000000000000000 : number.exact
1.5 million ~ 1,500,000 : number.exact
0.\overline{3} ~ 1/3 : number.exact
0.\dot{3} ~ \frac13 : number.exact
0.1\overline{6} ~ 1/6 : number.exact
9.\overline{3} ~ 28/3 : number.exact
0.\dot{1}4285\dot{7} ~ 1/7 : number.exact
0.333... ~ 1/3 : number.exact
１２ ~ 12 : number.exact
3^{\text{rd}} ~ 3rd : number.exact
5 units ~ 5 : number.exact
12 square units ~ 12 : number.exact
seven ~ 7 : number.words
twenty-one ~ 21 : number.words
Twenty one ~ 21 : number.words
one hundred and five ~ 105 : number.words
five hundred thousand ~ 500,000 : number.words
two thirds ~ 2/3 : number.words
one half ~ 0.5 : number.words
three and a half ~ 7/2 : number.words
minus seven ~ -7 : number.words
third ~ 3rd : number.words
0.33 ~ 1/3 : number.rounding
0.67 ~ 2/3 : number.rounding
3.14 ~ 3.14159 : number.rounding
12.5 ~ 12.47 : number.rounding
\approx 3.14 ~ 22/7 : number.rounding
3.00\times10^8 ~ 299792458 : number.rounding
-0.667 ~ -2/3 : number.rounding
-0.35 ~ -0.345 : number.rounding
6:8 ~ 3:4 : number.ratio
3 to 4 ~ 3:4 : number.ratio
3:4 ~ 3/4 : number.ratio
5 km ~ 5000 m : quantity.convert
5\text{ km} ~ 5000\,\mathrm{m} : quantity.convert
3 мг ~ 3000 мкг : quantity.convert
\frac{1}{2}\text{ m} ~ 50 cm : quantity.convert
72 km/h ~ 20 m/s : quantity.convert
20 meters per second ~ 72\ \text{km/h} : quantity.convert
1 m^2 ~ 10000 cm² : quantity.convert
3 square meters ~ 30000 square centimeters : quantity.convert
1 L ~ 1000 cm^3 : quantity.convert
100 mL ~ 0.1 L : quantity.convert
1 kWh ~ 3.6 MJ : quantity.convert
1 N ~ 1 kg\cdot m/s^2 : quantity.same_unit
20\text{ m/s} ~ 20\ \mathrm{m\,s^{-1}} : quantity.same_unit
20 m/s ~ 20 ms^{-1} : quantity.same_unit
9.8 m/s/s ~ 9.8 meters per second squared : quantity.same_unit
5 \Omega ~ 5 ohms : quantity.same_unit
2 k\Omega ~ 2000 ohm : quantity.convert
5 \mu m ~ 5e-6 m : quantity.convert
25°C ~ 77°F : quantity.convert
25^\circ\text{C} ~ 298.15 K : quantity.convert
25 degrees Celsius ~ 25^{\circ}C : quantity.same_unit
30 degrees ~ 30°C : quantity.same_unit
5 miles ~ 8.05 km : quantity.convert
2 years ~ 24 months : quantity.convert
2 hours 30 minutes ~ 150 minutes : quantity.convert
2 hours and 30 minutes ~ 2.5 h : quantity.same_unit
5 ft 3 in ~ 63 inches : quantity.convert
half an hour ~ 30 minutes : quantity.convert
three and a half hours ~ 210 min : quantity.convert
50 cents ~ $0.50 : quantity.convert
$5 ~ 5 dollars : quantity.same_unit
$5 million ~ 5,000,000 dollars : quantity.same_unit
\$20 per hour ~ 20 dollars per hour : quantity.same_unit
1 KB ~ 1000 bytes : quantity.convert
1 GiB ~ 1024 MiB : quantity.convert
3 bytes ~ 24 bits : quantity.convert
5 apples ~ five apples : quantity.same_unit
1 apple ~ 1 apples : quantity.same_unit
5 grams of salt ~ 5 g : quantity.same_unit
10 years old ~ 10 years : quantity.same_unit
5 pounds ~ £5 : quantity.same_unit
1 turn ~ 360^\circ : quantity.convert
30^\circ 30' ~ 30.5^\circ : quantity.same_unit
36\pi \text{ cm}^2 ~ 36\pi : quantity.unit_dropped
36\pi ~ 113.1 cm^2 : quantity.unit_dropped
5 cm ~ 5 : quantity.unit_dropped
5cm ~ 5 : quantity.unit_dropped
5 m ~ 5 : quantity.unit_dropped
12 apples ~ 12 : quantity.unit_dropped
three sides ~ 3 : quantity.unit_dropped
\$1,000.00 ~ 1000 : quantity.unit_dropped
24 \text{ hours} ~ 24 : quantity.unit_dropped
12个 ~ 12 : quantity.unit_dropped
0.09 ~ 9\% : percent
1/2 ~ 50% : percent
33.3\% ~ 1/3 : percent
9% ~ 9 percent : quantity.same_unit
30^\circ ~ \pi/6 : degrees
30^{\circ} ~ \frac{\pi}{6} : degrees
180° ~ \pi : degrees
150° ~ \frac{5\pi}{6} : degrees
30° ~ 0.524 : degrees
30° ~ 30 degrees : quantity.same_unit
60° ~ \pi/3 \text{ rad} : quantity.convert
1010_2 ~ 1010_{2} : base
1010_2 ~ (1010)_2 : base
1010_2 ~ 10_{10} : base
1010_2 ~ 10 : base
1010_{\text{two}} ~ 1010 (base 2) : base
1010₂ ~ 0b1010 : base
0x1F ~ 31 : base
FF_{16} ~ ff_{16} : base
1F_{16} ~ 31_{10} : base
0.1_2 ~ 0.5_{10} : base
2024-01-05 ~ Jan 5, 2024 : date
2024-01-05 ~ 2024/1/5 : date
5 January 2024 ~ January 5th, 2024 : date
2024年1月5日 ~ 2024-01-05 : date
Friday, January 5, 2024 ~ January 5, 2024 : date
05/01/2024 ~ 5/1/2024 : date
25/12/2024 ~ December 25, 2024 : date
Mon ~ Monday : date
Sept ~ September : date
星期一 ~ Monday : date
15:21 ~ 3:21 PM : time
3pm ~ 15:00 : time
3 p.m. ~ 3:00 PM : time
noon ~ 12:00 PM : time
12 AM ~ midnight : time
09:05:00 ~ 9:05 : time
2024-01-05 15:00 ~ January 5, 2024, 3 PM : date.time
"""

UNEQUAL = r"""
12 ~ 13
12 ~ 12.3
3 ~ 3.14
-0.33 ~ -0.335
0.3 ~ 1/3
0.66 ~ 2/3
0.05 ~ 1/21
12.4 ~ 12.47
1/2 ~ 1/3
-3 ~ 3
7 ~ eight
2\frac{1}{2} ~ 1
3.2\times10^{-5} ~ 3.2\times10^{5}
10^6 ~ 10^5
0.\overline{3} ~ 0.\overline{6}
1:2 ~ 2:1
3:4 ~ 0.7
1:2:3 ~ 1:2
5\text{ cm} ~ 5\text{ m}
5 km ~ 5 m
5 kg ~ 5 N
5 m^2 ~ 5 m
$5 ~ €5
$5 ~ 6
5 cm ~ 6
5 apples ~ 6 apples
12 apples ~ 13
20 m/s ~ 20 km/h
25°C ~ 25°F
9 ~ 9\%
33% ~ 1/3
30^\circ ~ 30
30^\circ ~ \pi/3
180° ~ 2\pi
1010_2 ~ 1010_3
1010_2 ~ 1010
10_2 ~ 10
0x1F ~ 32
2024-01-05 ~ 2024-05-01
05/01/2024 ~ 01/05/2024
05/01/2024 ~ January 6, 2024
January 5, 2024 ~ January 6, 2024
January 5 ~ January 6, 2024
Monday ~ Tuesday
15:21:01 ~ 15:21:02
15:21 ~ 15:22
3 PM ~ 3 AM
2024-01-05 15:00 ~ 2024-01-05 16:00
"""

NOT_COMPARED = r"""
5 apples ~ 5 pears
5 cm ~ 5 apples
12 or 13 ~ 12
3 and 4 ~ 3
12 or more ~ 12
5x ~ 5
5m ~ 5
5 x ~ 5
3 t ~ 3
5mg ~ 5
2\pi s ~ 2\pi
5 squared ~ 5
5 dozen ~ 5
5 sixths ~ 5
5 January ~ 5
5 m) ~ 5
a dozen ~ 12
5i ~ 5
x ~ 5
A ~ 1
a ~ 1
1,2 ~ 1
(1,2) ~ 12
\sqrt{2} ~ 1.41
2\pi ~ 6.28
36-\pi ~ -36\pi cm
3 km * 4 m ~ 3004 m
3 km - 4 m ~ 3004 m
1 year ~ 365 days
May ~ 5
January 2024 ~ January 5, 2024
3:21 ~ 3:21 PM
3pm ~ 3
yes ~ no
12 mod 13 ~ 12
1/0 ~ 0
a_{12} ~ 10
10_0 ~ 10
5 to 10 ~ 10 to 20
15:15 ~ 1
15:15 ~ 1:1
0.25... ~ 0.25
"""


def pairs(block: str) -> list[tuple[str, str]]:
    return [(a.strip(), b.strip()) for a, _, b in (line.partition(" ~ ") for line in block.strip().splitlines())]


def ruled(block: str) -> list[tuple[str, str, str]]:
    return [(a, b.rpartition(" : ")[0], b.rpartition(" : ")[2]) for a, b in pairs(block)]


@pytest.mark.parametrize(("a", "b", "rule"), ruled(EQUAL))
def test_equal(a: str, b: str, rule: str) -> None:
    for found in (compared(a, b), compared(b, a)):
        assert found is not None
        assert found.equal
        assert found.rule in (rule, "text.exact", "text.canonical", "text.wording")


@pytest.mark.parametrize(("a", "b"), pairs(UNEQUAL))
def test_unequal(a: str, b: str) -> None:
    for one, other in ((a, b), (b, a)):
        ruling = compared(one, other)
        assert ruling is not None
        assert ruling[0] is False


@pytest.mark.parametrize(("a", "b"), pairs(NOT_COMPARED))
def test_not_taken_for_equal(a: str, b: str) -> None:
    for found in (compared(a, b), compared(b, a)):
        assert found is None or not found.equal


def test_the_question_says_what_a_bare_number_means() -> None:
    assert compared("9", r"9\%", RequiredForm(percent=True)) == (True, "percent")
    assert compared("0.09", r"9\%", RequiredForm(percent=True)) == (True, "percent")
    assert compared("30", r"30^\circ", RequiredForm(degrees=True)) == (True, "degrees")
    assert compared("1010", "1010_2", RequiredForm(base=2)) == (True, "base")
    assert compared("10", "1010_2", RequiredForm(base=2)) == (False, "base")
    assert compared("10", "10_{10}", RequiredForm(base=2)) == (False, "base")
    assert compared("10:15", "2:3", RequiredForm(ratio=True)) == (True, "number.ratio")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many apples are left?", RequiredForm()),
        ("A shirt costs $20 after a 20% discount. What did it cost?", RequiredForm()),
        ("What percent of the students passed?", RequiredForm(percent=True)),
        ("Find the percentage increase.", RequiredForm(percent=True)),
        ("Express your answer as a percent.", RequiredForm(percent=True)),
        ("What is the yield (in %)?", RequiredForm(percent=True)),
        (r"The price rises by $x\%$. Find x.", RequiredForm(percent=True)),
        ("What is the annual rate of interest?", RequiredForm(percent=True)),
        ("How many degrees are in angle A?", RequiredForm(degrees=True)),
        (r"In triangle ABC, A = 30^\circ. Find B.", RequiredForm(degrees=True)),
        (r"Convert 30^\circ to radians.", RequiredForm()),
        ("What is the ratio of boys to girls?", RequiredForm(ratio=True)),
        ("Write 10 in base 2.", RequiredForm(base=2)),
        ("Convert 255 to hexadecimal.", RequiredForm(base=16)),
        ("Express the sum in base five.", RequiredForm(base=5)),
        ("Convert 1010_2 to base 10.", RequiredForm(base=10)),
    ],
)
def test_asked(question: str, expected: RequiredForm) -> None:
    assert required_form(question) == expected
