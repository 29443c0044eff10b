"""What is no prose keeps every character; the prose around and inside mark-up is still corrected."""

import time

import pytest

from model.text.changes import apply_changes, find_changes
from model.text.protected import spares_verbatim, verbatim_spans


def spans(text: str) -> list[str]:
    return [text[a:b] for a, b in verbatim_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("www.꽃가게.한국/안되요 참고", ["www.꽃가게.한국/안되요"]),
        ("https://예시.kr/할일?쪽=2 에 있다", ["https://예시.kr/할일?쪽=2"]),
        ("영희@학교.한국 으로 보내", ["영희@학교.한국"]),
        (r"C:\사용자\영희\바탕화면 에 있다", [r"C:\사용자\영희\바탕화면"]),
        ("/home/영희/할일 에 있다", ["/home/영희/할일"]),
        ("#오늘의숙제 # 제목", ["#오늘의숙제"]),
        ("과제_최종(2).hwp 보냄", ["과제_최종(2).hwp"]),
        ("`할수있다` 실행", ["`할수있다`"]),
        ("목록.append('할수있다')", ["목록.append('할수있다')"]),
        ('print("안되요") 라고 쓴다', ['print("안되요")']),
        ('이름 = "영희"', ['이름 = "영희"']),
        ('{"할일": ["가", 1]}', ['{"할일": ["가", 1]}']),
        ('"할일": "안되요",', ['"할일": "안되요"']),
        ("```\n할수있다\n``` 끝", ["```\n할수있다\n```"]),
        ("SELECT 이름 FROM 회원;", ["SELECT 이름 FROM 회원;"]),
        ("그래.\nif 할일 >= 3: 다했다 = True", ["if 할일 >= 3: 다했다 = True"]),
        ("$ mkdir 안되요 && cd 안되요", ["$ mkdir 안되요 && cd 안되요"]),
        ("import 내모듈 as 모듈", ["import 내모듈 as 모듈"]),
        ("ID: 푸른하늘 / pw: ****", ["ID: 푸른하늘", "pw: ****"]),
        ("비밀번호 안녕하세요123!", ["안녕하세요123!"]),
        ("<b>안되요</b>", ["<b>", "</b>"]),
        ("[할일 보기](https://예시.한국/알림)", ["](https://예시.한국/알림)"]),
        ("{{이름}}님 안녕", ["{{이름}}"]),
        ("고마워어 ㅋㅋ", ["어"]),
        # prose
        ('그는 "가자" 하고 말했다.', []),
        ("학급 회장(김영희)은 2시에 온다.", []),
        ("남/여, 3/14(목) 10:00", []),
        ("{엄마께 전화}", []),
        ("카페에 갔다. 나의 이", []),
        ("1.사과 2.배", []),
        ('안내("자세한 말" 참고)를 보라', []),
    ],
)
def test_where_they_stand(text, expected):
    assert spans(text) == expected


def test_a_change_inside_or_of_the_spaces_at_the_ends_is_refused():
    text, target = "<b>안되요</b> 할수있다", "<b> 안 돼요 </b> 할 수 있다"
    kept = [each for each in find_changes(text, target) if spares_verbatim(each, verbatim_spans(text))]
    assert apply_changes(text, kept) == "<b>안 돼요</b> 할 수 있다"


@pytest.mark.parametrize(
    "piece", ["가", "a.", "가_", "\\", "/가", '"', "((", "<b ", '{"', "가.가(", "@a", "`", "SELECT "]
)
def test_long_texts_take_no_quadratic_time(piece):
    started = time.process_time()
    verbatim_spans(piece * (8000 // len(piece)))
    assert time.process_time() - started < 1
